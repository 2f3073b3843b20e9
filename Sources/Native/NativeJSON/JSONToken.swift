// SPDX-License-Identifier: Apache-2.0

/// A string or a bare word (number, literal, or what was meant for one) in a JSON text.
struct JSONToken {
    /// Its bytes, quotation marks included.
    let range: Range<Int>
    /// Whether a colon follows: it is a member's name.
    let isName: Bool

    /// The token that holds the byte before `position` (counted from the start of `text`), which is where jansson
    /// stops; nil where that byte belongs to a bracket, a blank or a string without an end.
    static func at(_ position: Int, in text: ArraySlice<UInt8>) -> JSONToken? {
        let wanted = text.startIndex + max(position, 1) - 1
        guard wanted < text.endIndex else { return nil }
        var index = text.startIndex
        while index <= wanted {
            guard let end = tokenEnd(from: index, in: text) else { return nil }
            // jansson stops before a bad byte of a string: then the byte before is the string's, at least its quote.
            if wanted < end { return end - index == 1 && !isWord(text[index]) ? nil : token(index..<end, in: text) }
            index = end
        }
        return nil
    }

    /// The text with `null` in the place of every object and array that lies more than `levels` deep.
    static func levelled(_ text: ArraySlice<UInt8>, levels: Int = 1000) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(text.count)
        var depth = 0
        var index = text.startIndex
        while index < text.endIndex {
            let byte = text[index]
            let end = byte == 0x22 ? stringEnd(from: index, in: text) ?? text.endIndex : index + 1
            let opens = byte == 0x5B || byte == 0x7B
            if opens {
                depth += 1
                if depth == levels + 1 { output += "null".utf8 }
            }
            if depth <= levels { output += text[index..<end] }
            if byte == 0x5D || byte == 0x7D { depth -= 1 }
            index = end
        }
        return output
    }

    private static func token(_ range: Range<Int>, in text: ArraySlice<UInt8>) -> JSONToken {
        let next = text[range.upperBound...].first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        return JSONToken(range: range, isName: next == 0x3A)
    }

    /// The end of what begins at `index`: a whole string, a whole word, or one byte; nil for an endless string.
    private static func tokenEnd(from index: Int, in text: ArraySlice<UInt8>) -> Int? {
        if text[index] == 0x22 { return stringEnd(from: index, in: text) }
        guard isWord(text[index]) else { return index + 1 }
        return text[index...].firstIndex { !isWord($0) } ?? text.endIndex
    }

    private static func stringEnd(from index: Int, in text: ArraySlice<UInt8>) -> Int? {
        var index = index + 1
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
