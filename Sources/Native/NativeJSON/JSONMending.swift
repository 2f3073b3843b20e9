// SPDX-License-Identifier: Apache-2.0

/// Makes of a text that jansson refuses as a whole one that it may take: jansson itself is asked for each string and
/// each bare word (a number, a literal, or what was meant for one), and what it refuses there gives way to `null`.
///
/// One pass, so that a megabyte of odd members costs no more than a megabyte of strings.
enum JSONMending {
    /// The text with `null` for each refused value, `""` for each refused name, and `null` for every object and array
    /// that lies more than `levels` deep.
    /// - Parameter isTaken: whether jansson takes that token by itself, as a value or as a member's name.
    static func mended(
        _ text: ArraySlice<UInt8>, levels: Int = 1000, isTaken: (ArraySlice<UInt8>, _ asName: Bool) -> Bool
    ) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(text.count)
        var depth = 0
        var index = text.startIndex
        while index < text.endIndex {
            let byte = text[index]
            guard let end = tokenEnd(from: index, in: text) else { return output + text[index...] }
            if opens(byte) {
                depth += 1
                if depth == levels + 1 { output += "null".utf8 }
            }
            if depth <= levels { append(text[index..<end], of: text, to: &output, isTaken) }
            if closes(byte) { depth -= 1 }
            index = end
        }
        return output
    }

    private static func append(
        _ token: ArraySlice<UInt8>, of text: ArraySlice<UInt8>, to output: inout [UInt8],
        _ isTaken: (ArraySlice<UInt8>, Bool) -> Bool
    ) {
        guard let first = token.first, first == 0x22 || isWord(first), !isPlain(token) else {
            output += token
            return
        }
        let next = text[token.endIndex...].first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        let isName = next == 0x3A
        if isTaken(token, isName) { output += token } else { output += isName ? "\"\"".utf8 : "null".utf8 }
    }

    /// Whether it is a whole string of ASCII without an escape: nobody has to be asked about those, and most are.
    private static func isPlain(_ token: ArraySlice<UInt8>) -> Bool {
        guard token.first == 0x22, token.count > 1, token.last == 0x22 else { return false }
        return token.dropFirst().dropLast().allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
    }

    private static func opens(_ byte: UInt8) -> Bool { byte == 0x5B || byte == 0x7B }
    private static func closes(_ byte: UInt8) -> Bool { byte == 0x5D || byte == 0x7D }

    /// The end of what begins at `index`: a string, a whole word, or one byte; nil for a string without an end.
    private static func tokenEnd(from index: Int, in text: ArraySlice<UInt8>) -> Int? {
        if text[index] == 0x22 { return stringEnd(from: index, in: text) }
        guard isWord(text[index]) else { return index + 1 }
        return text[index...].firstIndex { !isWord($0) } ?? text.endIndex
    }

    private static func stringEnd(from start: Int, in text: ArraySlice<UInt8>) -> Int? {
        var index = start + 1
        while index < text.endIndex {
            switch text[index] {
            case 0x22: return index + 1
            case 0x5C: index += 2
            default: index += 1
            }
        }
        return nil
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x2E, 0x5F: true
        default: false
        }
    }
}
