// SPDX-License-Identifier: Apache-2.0
import NativeJSON
import Testing

@Suite("JSON from providers")
struct ProvidersJSONTests {
    @Test(
        "an odd member reads null and costs no other",
        arguments: [
            "1e400", "-1e999", "9223372036854775808", "-9223372036854775809", #""\ud800""#, #""x\udc00y""#,
            #""\ud83d\u0041""#, "NaN", "-Infinity", "01", "1.", "+1", ".5", #""a\qb""#, "\"tab\there\"",
            "\"new\nline\"",
        ])
    func oddMember(token: String) throws {
        let text =
            #"{"access_token":"A\"\\","odd" : "# + token + #" ,"refresh_token":"R-canary,}","list":[1,"# + token + "]}"
        let value = try JSONValue.parse(Array(text.utf8), as: .providers)
        #expect(value["access_token"]?.string == "A\"\\")
        #expect(value["refresh_token"]?.string == "R-canary,}")
        #expect(value["odd"]?.isNull == true)
        #expect(value["list"]?[0]?.integer == 1)
        #expect(value["list"]?[1]?.isNull == true)
    }

    @Test("an odd name is no reason to lose the others", arguments: [#"\ud800"#, #"a\u0000b"#])
    func oddName(name: String) throws {
        let value = try JSONValue.parse(Array(#"{"\#(name)" : 1,"refresh_token":"R"}"#.utf8), as: .providers)
        #expect(value["refresh_token"]?.string == "R")
    }

    @Test("bad UTF-8 in a member reads null")
    func badUTF8() throws {
        let text = Array(#"{"a":"b"#.utf8) + [0xFF, 0xED, 0xA0, 0x80] + Array(#"c","refresh_token":"R"}"#.utf8)
        let value = try JSONValue.parse(text, as: .providers)
        #expect(value["a"]?.isNull == true)
        #expect(value["refresh_token"]?.string == "R")
    }

    @Test(
        "a megabyte of odd members costs no token, and little time",
        arguments: ["1e400", #""\ud800""#, "01", "9223372036854775808", #"{"\ud800":1e999}"#, "[[01]]"])
    func manyOddMembers(odd: String) throws {
        let count = (1 << 20) / (odd.utf8.count + 1)
        let list = repeatElement(odd, count: count).joined(separator: ",")
        let text = #"{"access_token":"A-canary","odd":["# + list + #"],"refresh_token":"R-canary"}"#
        let start = ContinuousClock.now
        let value = try JSONValue.parse(Array(text.utf8), as: .providers)
        // Measured with optimisation: 0.1 to 0.4 s for each; under a sanitizer on a busy machine over twenty. Quadratic
        // time would be hours.
        #expect(ContinuousClock.now - start < .seconds(300))
        #expect(value["access_token"]?.string == "A-canary" && value["refresh_token"]?.string == "R-canary")
        #expect(value["odd"]?.count == count)
    }

    @Test("the end of an endless string is not made up", arguments: ["\"x", "[\"x\\\"", "[1e400,\"", "\"\\"])
    func endlessString(text: String) {
        #expect(throws: JSONError.self) { try JSONValue.parse(Array(text.utf8), as: .providers) }
    }

    @Test(
        "what is nested too deeply reads null and costs no other member",
        arguments: [("[", "]"), (#"{"a":"#, "}"), (#"{"]":[{"\"{":["#, "]}]}")])
    func deep(opening: String, closing: String) throws {
        let nested = String(repeating: opening, count: 100_000) + "1" + String(repeating: closing, count: 100_000)
        let text = #"{"access_token":"A]}","odd":"# + nested + #","n":1e400,"refresh_token":"R-canary{["}"#
        let value = try JSONValue.parse(Array(text.utf8), as: .providers)
        #expect(value["access_token"]?.string == "A]}")
        #expect(value["refresh_token"]?.string == "R-canary{[")
        #expect(value["odd"]?.count == 1)
        #expect(throws: JSONError.self) { try JSONValue.parse(Array(text.dropLast().utf8), as: .providers) }
        #expect(throws: JSONError.self) { try JSONValue.parse(Array(text.utf8), as: .callers) }
    }

    @Test("one byte-order mark is skipped, a NUL in a string kept, of two members of a name the last counts")
    func tolerance() throws {
        let value = try JSONValue.parse(Array("\u{FEFF}{\"a\":\"x\\u0000y\",\"b\":1,\"b\":2}".utf8), as: .providers)
        #expect(value["a"]?.string == "x\0y")
        #expect(value["a"]?.bytes == [0x78, 0, 0x79])
        #expect(value["b"]?.integer == 2)
    }

    @Test(
        "what is no JSON at all stays refused", arguments: ["", "<html>", "{\"a\":1", "{\"a\":\"x", "{]", "\u{FEFF}"])
    func refused(text: String) {
        #expect(throws: JSONError.self) { try JSONValue.parse(Array(text.utf8), as: .providers) }
    }
}
