// SPDX-License-Identifier: Apache-2.0

/// The header fields of an answer, in their order.
package struct CurlHeaders: Sendable {
    /// Whole lines as they came, the status line not among them.
    private let lines: [UInt8]

    init(lines: [UInt8]) { self.lines = lines }

    /// The value of the first field of that name, written in lower case; bad UTF-8 is repaired.
    package subscript(name: String) -> String? { bytes(of: name).map { String(decoding: $0, as: UTF8.self) } }

    /// The bytes of the value of the first field of that name, written in lower case.
    package func bytes(of name: String) -> ArraySlice<UInt8>? {
        var start = lines.startIndex
        while start < lines.endIndex {
            let end = lines[start...].firstIndex(of: 0x0A) ?? lines.endIndex
            if Self.isNamed(lines[start..<end], name) { return Self.value(in: lines[start..<end]) }
            start = end + 1
        }
        return nil
    }

    /// The values of every field of that name, written in lower case.
    package func values(of name: String) -> [String] { fields.filter { Self.isNamed($0, name) }.map(Self.value) }

    /// Names in lower case, values without the blanks around them.
    package var all: [(name: String, value: String)] {
        fields.map { field in
            (String(decoding: field.prefix { $0 != 0x3A }.map(Self.lowered), as: UTF8.self), Self.value(of: field))
        }
    }

    private var fields: [ArraySlice<UInt8>] { lines.split(separator: 0x0A).filter { $0.contains(0x3A) } }

    private static func isNamed(_ field: ArraySlice<UInt8>, _ name: String) -> Bool {
        let wanted = name.utf8.span
        guard field.count > wanted.count, field[field.startIndex + wanted.count] == 0x3A else { return false }
        for index in wanted.indices where lowered(field[field.startIndex + index]) != wanted[index] { return false }
        return true
    }

    private static func value(of field: ArraySlice<UInt8>) -> String {
        String(decoding: value(in: field), as: UTF8.self)
    }

    private static func value(in field: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
        let value = field.drop { $0 != 0x3A }.dropFirst().drop(while: isBlank)
        let end = value.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? value.startIndex
        return value[..<end]
    }

    private static func lowered(_ byte: UInt8) -> UInt8 { 0x41...0x5A ~= byte ? byte | 0x20 : byte }
}

extension CurlHeaders: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "\(all.count) header fields" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
