// SPDX-License-Identifier: Apache-2.0
/// One statement's text. A connection prepares it once and knows it by the object, not by its text: keep each in a
/// `static let`.
package final class SQLiteQuery: Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }
}
