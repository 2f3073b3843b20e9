// SPDX-License-Identifier: Apache-2.0
import NativeJSON
import Testing

@Suite("JSON from callers")
struct CallersJSONTests {
    @Test(
        "a trailing comma is called by its name, with its place",
        arguments: [
            ("{\"a\":1,}", 1, 7), ("[1,]", 1, 3), ("{\"é\":1,\n \"b\": [2 , ] }", 2, 10),
            ("{\n  \"code\": \"x\",\n}", 2, 14),
        ])
    func trailingComma(text: String, line: Int, column: Int) {
        #expect(throws: JSONError.trailingComma(line: line, column: column)) {
            try JSONValue.parse(Array(text.utf8), as: .callers)
        }
    }

    @Test("a name that stands twice is an error of its own")
    func duplicateKey() {
        #expect(throws: JSONError.duplicateKey(line: 1, column: 19)) {
            try JSONValue.parse(Array(#"{"code":"s1","code":"s2"}"#.utf8), as: .callers)
        }
    }

    @Test(
        "everything else malformed has its reason",
        arguments: [
            ("", JSONFault.unfinished), ("{", .unfinished), ("{\"a\":1", .unfinished), ("{} x", .bytesAfterTheEnd),
            ("[1]\0", .bytesAfterTheEnd), ("{,}", .unexpectedToken),
            ("[,]", .unexpectedToken), ("[1,,2]", .unexpectedToken),
            ("{\"a\":,}", .unexpectedToken), ("{\"a\":\"\\u0000\"}", .nulCharacter),
            ("{\"a\\u0000\":1}", .nulCharacter),
            ("{\"a\":1e400}", .numberOutOfRange), ("{\"a\":9223372036854775808}", .numberOutOfRange),
            ("{\"a\":\"\\ud800\"}", .unexpectedToken), ("{'a':1}", .unexpectedToken),
            ("\u{FEFF}\u{FEFF}{}", .unexpectedToken),
            ("\u{FEFF}", .unfinished),
        ])
    func malformed(text: String, fault: JSONFault) throws {
        let error = #expect(throws: JSONError.self) { try JSONValue.parse(Array(text.utf8), as: .callers) }
        guard case .malformed(let found, let line, let column) = try #require(error) else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(found == fault)
        #expect(line == 1 && column >= 1)
    }

    @Test("a byte-order mark before the text is passed over")
    func byteOrderMark() throws {
        let value = try JSONValue.parse(Array("\u{FEFF}{\"code\":\"x\u{FEFF}\"}".utf8), as: .callers)
        #expect(value["code"]?.string == "x\u{FEFF}")
        #expect(throws: JSONError.trailingComma(line: 1, column: 7)) {
            try JSONValue.parse(Array("\u{FEFF}{\"a\":1,}".utf8), as: .callers)
        }
    }

    @Test("bytes that are not UTF-8 are refused")
    func notUTF8() {
        #expect(throws: JSONError.malformed(.notUTF8, line: 1, column: 2)) {
            try JSONValue.parse([0x5B, 0x22, 0xFF, 0x22, 0x5D], as: .callers)
        }
    }

    @Test("ten thousand nested arrays are refused, not followed", arguments: [10_000, 1_000_000])
    func nested(depth: Int) {
        let text = [UInt8](repeating: 0x5B, count: depth) + [UInt8](repeating: 0x5D, count: depth)
        let error = #expect(throws: JSONError.self) { try JSONValue.parse(text, as: .callers) }
        #expect(error == .malformed(.tooDeep, line: 1, column: 2049))
    }

    @Test("an error never shows what was in the text")
    func harmless() {
        for text in [#"{"code":"SECRET" "x"}"#, #"{"SECRET":1,"SECRET":2}"#, #"["SECRET",]"#, "SECRET"] {
            let error = #expect(throws: JSONError.self) { try JSONValue.parse(Array(text.utf8), as: .callers) }
            #expect(!"\(error as Any)\(String(reflecting: error))".contains("SECRET"))
        }
    }
}
