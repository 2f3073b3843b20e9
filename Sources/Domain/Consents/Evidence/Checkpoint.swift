// SPDX-License-Identifier: Apache-2.0
/// What all chains of events amounted to at one moment, in the form that is signed.
package struct Checkpoint: Sendable, Equatable {
    /// 1 for a store's first, and so on without a gap.
    package let number: Int64
    /// When it was begun.
    package let at: Instant
    /// How many consents had an event, and how many events there were.
    package let consents: Int64
    package let events: Int64
    /// Over the chains' heads in the order of their consents (``CheckpointTally``), 32 bytes.
    package let root: [UInt8]
    /// The name of the one before; empty for the first.
    package let previous: String
    /// The evidence key that signs it.
    package let keyID: String

    package init(
        number: Int64, at: Instant, consents: Int64, events: Int64, root: [UInt8], previous: String, keyID: String
    ) {
        self.number = number
        self.at = at
        self.consents = consents
        self.events = events
        self.root = root
        self.previous = previous
        self.keyID = keyID
    }

    /// What is signed: UTF-8, sorted keys, no blanks, strings and integers only. Nothing in it needs an escape: names
    /// of keys and checkpoints are letters, digits, `.`, `_` and `-`.
    package var canonical: [UInt8] {
        let text =
            "{\"at\":\(at.milliseconds),\"consents\":\(consents),\"events\":\(events),\"key\":\"\(keyID)\","
            + "\"number\":\(number),\"previous\":\"\(previous)\",\"root\":\"\(Hexadecimal.text(of: root))\","
            + "\"type\":\"checkpoint\"}"
        return Array(text.utf8)
    }

    /// - Parameter sha256: makes 32 bytes.
    package func name(_ sha256: ([UInt8]) -> [UInt8]) -> CheckpointName {
        CheckpointName(number: number, digest: Array(sha256(canonical).prefix(CheckpointName.digestLength)))
    }
}

/// How a checkpoint is named: its number and the first half of the SHA-256 of its form, as in
/// `9-3f0c…`. Whoever kept the name has kept what it stands for: no other checkpoint has it.
package struct CheckpointName: Sendable, Equatable, CustomStringConvertible {
    static let digestLength = 16

    package let number: Int64
    /// 16 bytes.
    package let digest: [UInt8]

    init(number: Int64, digest: [UInt8]) {
        self.number = number
        self.digest = digest
    }

    /// - Returns: nil for anything but a number from 1, `-` and 32 lower-case hexadecimal digits.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let number = Int64(parts[0]), number > 0, String(number) == parts[0],
            let digest = Hexadecimal.bytes(of: parts[1]), digest.count == Self.digestLength
        else { return nil }
        self.init(number: number, digest: digest)
    }

    package var description: String { "\(number)-\(Hexadecimal.text(of: digest))" }
}

/// A checkpoint as it lies in the store: begun, and then signed.
package struct StoredCheckpoint: Sendable, Equatable {
    package let number: Int64
    package let at: Instant
    /// Nil as long as nobody has signed it.
    package let signed: Signed?

    package struct Signed: Sendable, Equatable {
        package let checkpoint: Checkpoint
        /// r ‖ s, 64 bytes.
        package let signature: [UInt8]

        package init(checkpoint: Checkpoint, signature: [UInt8]) {
            self.checkpoint = checkpoint
            self.signature = signature
        }
    }

    package init(number: Int64, at: Instant, signed: Signed?) {
        self.number = number
        self.at = at
        self.signed = signed
    }
}
