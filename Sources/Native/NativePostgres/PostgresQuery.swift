// SPDX-License-Identifier: Apache-2.0
/// One statement's text, its parameters written `$1`, `$2`, … A connection prepares it once and knows it by the object,
/// not by its text: keep each in a `static let`. It never begins or ends a transaction: `PostgresConnection` has calls
/// for that.
package final class PostgresQuery: Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    /// A text whose parameters are written as SQLite has them: `?` is the next one, `?3` the third. What stands in
    /// quotes or comments is left alone.
    package convenience init(questionMarks text: String) { self.init(numbered(text)) }
}

/// The text with `$1` for the first `?`, and `$3` for `?3`.
private func numbered(_ text: String) -> String {
    var scanner = MarkScanner()
    var numbered: [UInt8] = []
    numbered.reserveCapacity(text.utf8.count + 32)
    let bytes = Array(text.utf8)
    for (index, byte) in bytes.enumerated() {
        let following = index + 1 < bytes.count ? bytes[index + 1] : 0
        guard scanner.isMark(byte, before: following) else {
            numbered.append(byte)
            continue
        }
        numbered.append(UInt8(ascii: "$"))
        if !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(following) {
            scanner.marks += 1
            numbered += Array("\(scanner.marks)".utf8)
        }
    }
    return String(decoding: numbered, as: UTF8.self)
}

/// Goes over SQL byte by byte and knows where a `?` is a parameter.
private struct MarkScanner {
    private enum Place { case code, text, name, comment }

    private var place = Place.code
    var marks = 0

    /// - Parameter following: the byte after it, 0 at the end.
    mutating func isMark(_ byte: UInt8, before following: UInt8) -> Bool {
        switch (place, byte) {
        case (.code, UInt8(ascii: "'")): place = .text
        case (.code, UInt8(ascii: "\"")): place = .name
        case (.code, UInt8(ascii: "-")) where following == UInt8(ascii: "-"): place = .comment
        case (.code, UInt8(ascii: "?")): return true
        case (.text, UInt8(ascii: "'")), (.name, UInt8(ascii: "\"")), (.comment, UInt8(ascii: "\n")): place = .code
        default: break
        }
        return false
    }
}
