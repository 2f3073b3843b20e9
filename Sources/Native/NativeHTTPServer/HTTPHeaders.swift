// SPDX-License-Identifier: Apache-2.0

/// The field lines of a request in the order in which they came, byte for byte; names compare without regard to case.
///
/// One buffer holds all of them; values come without the blanks around them (RFC 9112, section 5).
package struct HTTPHeaders: Sendable {
    /// Where one line's name and value stand in the buffer.
    struct Line: Sendable {
        var name: Range<Int>
        var value: Range<Int>
    }

    /// A field line as it came.
    package struct Field: Sendable {
        package let name: ArraySlice<UInt8>
        package let value: ArraySlice<UInt8>
    }

    private let bytes: [UInt8]
    private let lines: [Line]

    init(bytes: [UInt8], lines: [Line]) {
        self.bytes = bytes
        self.lines = lines
    }

    /// Headers made by hand, for tests and for handlers' own requests.
    package init(_ fields: [(name: String, value: String)] = []) {
        var bytes: [UInt8] = []
        var lines: [Line] = []
        for (name, value) in fields {
            let start = bytes.count
            bytes += name.utf8
            let middle = bytes.count
            bytes += value.utf8
            lines.append(Line(name: start..<middle, value: middle..<bytes.count))
        }
        self.init(bytes: bytes, lines: lines)
    }

    /// How many lines there are.
    package var count: Int { lines.count }

    /// Every line, in order.
    package var fields: [Field] {
        lines.map { Field(name: bytes[$0.name], value: bytes[$0.value]) }
    }

    /// The value of the first line of that name.
    package func first(_ name: String) -> ArraySlice<UInt8>? {
        for line in lines where matches(line.name, name) { return bytes[line.value] }
        return nil
    }

    /// The value of the first line of that name as text; nil as well where it is no UTF-8.
    package func firstText(_ name: String) -> String? {
        first(name).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// The values of all lines of that name, in order.
    package func all(_ name: String) -> [ArraySlice<UInt8>] {
        var values: [ArraySlice<UInt8>] = []
        for line in lines where matches(line.name, name) { values.append(bytes[line.value]) }
        return values
    }

    /// How many lines have that name.
    package func count(of name: String) -> Int {
        var count = 0
        for line in lines where matches(line.name, name) { count += 1 }
        return count
    }

    private func matches(_ range: Range<Int>, _ name: String) -> Bool {
        guard name.utf8.count == range.count else { return false }
        let wanted = name.utf8.span
        for index in wanted.indices
        where bytes[range.lowerBound + index].lowercasedASCII != wanted[index].lowercasedASCII { return false }
        return true
    }
}

extension UInt8 {
    /// The small letter for one of A to Z, else the byte itself.
    var lowercasedASCII: UInt8 {
        self >= 0x41 && self <= 0x5A ? self | 0x20 : self
    }

    /// Whether the byte may stand in a field name or a method (`tchar`, RFC 9110, section 5.6.2).
    var isTokenByte: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true
        default: false
        }
    }

    /// Whether the byte may stand in a field value: anything but control characters other than a tab.
    var isFieldValueByte: Bool {
        self >= 0x20 && self != 0x7F || self == 0x09
    }
}
