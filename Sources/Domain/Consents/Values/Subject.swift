// SPDX-License-Identifier: Apache-2.0
/// The merchant's own identifier for its user: 1 to 255 bytes of UTF-8 without control characters, compared byte for
/// byte.
package struct Subject: Sendable, CustomStringConvertible, CustomReflectable {
    /// The identifier as the merchant wrote it; it is a personal value and has no place in a log line.
    package let text: String

    /// - Returns: nil where the text is empty, longer than 255 bytes or holds a control character.
    package init?(_ text: String) {
        guard (1...255).contains(text.utf8.count), !Subject.holdsControl(text) else { return nil }
        self.text = text
    }

    private static func holdsControl(_ text: String) -> Bool {
        // To look a character up costs more than all the rest, and most identifiers are plain ASCII.
        if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return false }
        return text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }

    /// Byte for byte: what looks the same may be two people.
    package func isSame(as other: Subject) -> Bool { text.utf8.elementsEqual(other.text.utf8) }
    package var description: String { "a subject" }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
