// SPDX-License-Identifier: Apache-2.0

/// The header fields of an answer, in their order.
package struct CurlHeaders: Sendable {
    /// Whole lines as they came, the status line not among them.
    private let lines: [UInt8]

    init(lines: [UInt8]) { self.lines = lines }

    /// The value of the first field of that name, written in lower case; bad UTF-8 is repaired.
    package subscript(name: String) -> String? { all.first { $0.name == name }?.value }

    /// The values of every field of that name, written in lower case.
    package func values(of name: String) -> [String] { all.filter { $0.name == name }.map(\.value) }

    /// Names in lower case, values without the blanks around them.
    package var all: [(name: String, value: String)] {
        lines.split(separator: 0x0A).compactMap { line in
            guard let colon = line.firstIndex(of: 0x3A) else { return nil }
            let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
            let name = line[..<colon].map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
            let start = line[(colon + 1)...].firstIndex { !isBlank($0) } ?? line.endIndex
            let end = line[start...].lastIndex { !isBlank($0) }.map { $0 + 1 } ?? start
            return (String(decoding: name, as: UTF8.self), String(decoding: line[start..<end], as: UTF8.self))
        }
    }
}

extension CurlHeaders: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "\(all.count) header fields" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
