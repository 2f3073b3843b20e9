// SPDX-License-Identifier: Apache-2.0
/// The identifier of a consent record: `cns_` and a UUIDv7 in 32 hexadecimal digits.
package struct ConsentID: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let uuid: UUIDv7

    package init(_ uuid: UUIDv7) { self.uuid = uuid }

    /// The identifier as callers write it; nil for anything else.
    package init?(_ text: some StringProtocol) {
        guard text.hasPrefix("cns_"), let uuid = UUIDv7(hexadecimal: Substring(text).dropFirst(4)) else { return nil }
        self.uuid = uuid
    }

    package var description: String {
        var text = InlineArray<36, UInt8>(repeating: UInt8(ascii: "_"))
        text[0] = UInt8(ascii: "c")
        text[1] = UInt8(ascii: "n")
        text[2] = UInt8(ascii: "s")
        Hexadecimal.write(uuid.high, uuid.low, from: 4, into: &text)
        return String(ascii: text.span)
    }

    package static func < (left: ConsentID, right: ConsentID) -> Bool { left.uuid < right.uuid }
}

/// One try to spend a code or a refresh token; what a process writes before it sends, to know its own row again.
package struct AttemptID: Hashable, Sendable {
    package let uuid: UUIDv7
    package init(_ uuid: UUIDv7) { self.uuid = uuid }
}

/// One running process of the gateway, alive for as long as it holds its lock.
package struct InstanceID: Hashable, Sendable, CustomStringConvertible {
    package let uuid: UUIDv7
    package init(_ uuid: UUIDv7) { self.uuid = uuid }
    package var description: String { uuid.hexadecimal }
}
