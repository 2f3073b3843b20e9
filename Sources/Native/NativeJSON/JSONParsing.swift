// SPDX-License-Identifier: Apache-2.0
internal import CJansson

/// Whose text it is, which decides how strictly it is read.
package enum JSONSource: Sendable {
    /// A caller's body or a JWT: duplicate names, `\u0000` and anything beyond RFC 8259 are refused. A byte-order mark
    /// is skipped (RFC 8259, section 8.1).
    case callers
    /// A provider's answer: a rotated token must not be lost to an odd member. A byte-order mark is skipped, of two
    /// members of one name the last counts; each number or string that jansson refuses reads as null, however many there
    /// are, and so does what lies 1,000 levels deep.
    case providers
}

extension JSONValue {
    /// The value that `bytes` hold; 2,048 levels deep at most.
    /// - Throws: `JSONError`, with no byte of the text in it.
    package static func parse(_ bytes: [UInt8], as source: JSONSource) throws(JSONError) -> JSONValue {
        switch source {
        case .callers:
            let text = withoutMark(bytes)
            let outcome = load(text, flags: JSON_REJECT_DUPLICATES | JSON_DECODE_ANY)
            if let value = outcome.value { return value }
            throw outcome.report.error(in: Array(text))
        case .providers:
            return try parseLeniently(withoutMark(bytes))
        }
    }

    /// What jansson refuses as a whole is mended once, then read again: time in proportion to the text, whatever it is.
    private static func parseLeniently(_ text: ArraySlice<UInt8>) throws(JSONError) -> JSONValue {
        let first = load(text, flags: JSON_ALLOW_NUL | JSON_DECODE_ANY)
        if let value = first.value { return value }
        let mended = JSONMending.mended(text) { token, isName in
            load(token, flags: isName ? JSON_DECODE_ANY : JSON_ALLOW_NUL | JSON_DECODE_ANY).value != nil
        }
        if let value = load(mended[...], flags: JSON_ALLOW_NUL | JSON_DECODE_ANY).value { return value }
        throw first.report.error(in: Array(text))
    }

    /// Without the byte-order mark that may stand before it.
    private static func withoutMark(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
    }

    private static func load(_ text: ArraySlice<UInt8>, flags: Int32) -> (value: JSONValue?, report: JSONReport) {
        takeMemoryFromBlocks()
        var error = json_error_t()
        let node = unsafe text.withUnsafeBytes { raw in
            unsafe json_loadb(raw.baseAddress?.assumingMemoryBound(to: CChar.self), raw.count, Int(flags), &error)
        }
        guard let node = unsafe node else { return (nil, JSONReport(error, empty: text.isEmpty)) }
        return (unsafe JSONValue(owning: node), JSONReport(error, empty: false))
    }
}

/// Where and why jansson stopped, without the input text that its own message quotes.
struct JSONReport {
    let line: Int
    let column: Int
    /// Bytes read up to the end of the token that stopped it.
    let position: Int
    let code: json_error_code

    init(_ error: json_error_t, empty: Bool) {
        var error = error
        line = max(1, Int(error.line))
        column = max(1, Int(error.column))
        position = Int(error.position)
        unsafe code = empty ? json_error_premature_end_of_input : json_error_code(&error)
    }

    func error(in text: [UInt8]) -> JSONError {
        if code == json_error_duplicate_key { return .duplicateKey(line: line, column: column) }
        if code == json_error_invalid_syntax, let comma = trailingComma(in: text) {
            let before = text[..<comma]
            let lineStart = (before.lastIndex(of: 0x0A) ?? -1) + 1
            return .trailingComma(
                line: before.count(where: { $0 == 0x0A }) + 1,
                column: text[lineStart...comma].count(where: { $0 & 0xC0 != 0x80 }))
        }
        return .malformed(fault, line: line, column: column)
    }

    private var fault: JSONFault {
        switch code {
        case json_error_premature_end_of_input: .unfinished
        case json_error_end_of_input_expected: .bytesAfterTheEnd
        case json_error_invalid_utf8: .notUTF8
        case json_error_null_character, json_error_null_byte_in_key: .nulCharacter
        case json_error_numeric_overflow: .numberOutOfRange
        case json_error_stack_overflow: .tooDeep
        case json_error_out_of_memory: .outOfMemory
        default: .unexpectedToken
        }
    }

    /// The index of a comma with a value before it and a closing bracket after it, which is where jansson stopped.
    private func trailingComma(in text: [UInt8]) -> Int? {
        let closing = position - 1
        guard text.indices.contains(closing), text[closing] == 0x7D || text[closing] == 0x5D else { return nil }
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
        guard let comma = text[..<closing].lastIndex(where: { !isBlank($0) }), text[comma] == 0x2C,
            let value = text[..<comma].lastIndex(where: { !isBlank($0) })
        else { return nil }
        return [0x2C, 0x7B, 0x5B, 0x3A].contains(text[value]) ? nil : comma
    }
}
