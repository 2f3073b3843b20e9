// SPDX-License-Identifier: Apache-2.0

/// Why a text is no JSON that we take. Harmless when printed: it never holds a byte of the text.
///
/// Lines and columns count from 1, columns in characters.
package enum JSONError: Error, Equatable, Sendable {
    /// A comma before `}` or `]`, and where it stands. Its own case because printed samples have one.
    case trailingComma(line: Int, column: Int)
    /// A name that stands twice in one object, and where the second one ends.
    case duplicateKey(line: Int, column: Int)
    /// Anything else, and where the token that shows it ends.
    case malformed(JSONFault, line: Int, column: Int)
}

/// The kinds of malformed JSON, each with a fixed sentence.
package enum JSONFault: String, Error, Equatable, Sendable {
    case unexpectedToken = "something else was expected here"
    case unfinished = "the text ends too early"
    case bytesAfterTheEnd = "there is something after the end of the value"
    case notUTF8 = "a byte is not UTF-8"
    case nulCharacter = "the character U+0000 is not allowed"
    case numberOutOfRange = "a number is out of range"
    case tooDeep = "too many levels of nesting"
    case outOfMemory = "out of memory"
}

extension JSONError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .trailingComma(let line, let column): "trailing comma at line \(line), column \(column)"
        case .duplicateKey(let line, let column): "duplicate key at line \(line), column \(column)"
        case .malformed(let fault, let line, let column): "\(fault.rawValue) at line \(line), column \(column)"
        }
    }
}
