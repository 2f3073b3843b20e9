// SPDX-License-Identifier: Apache-2.0
/// Lines whose cells stand under one another, two blanks between them; what others wrote is made harmless.
enum TextTable {
    /// - Parameter rows: each with the same number of cells; the last of them is not padded.
    static func text(_ rows: [[String]], indent: Int = 0) -> String {
        let rows = rows.map { $0.map(Printable.text) }
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { row in
            var line = String(repeating: " ", count: indent)
            for (column, cell) in row.enumerated() {
                line += cell
                if column < row.count - 1 {
                    line += String(repeating: " ", count: widths[column] - cell.count + 2)
                }
            }
            while line.hasSuffix(" ") { line.removeLast() }
            return line + "\n"
        }.joined()
    }
}
