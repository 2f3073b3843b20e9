// SPDX-License-Identifier: Apache-2.0
/// What a checkpoint tells of the chains, counted head by head in the order of the consents' identifiers.
///
/// A leaf is the consent's 16 bytes ‖ the number of its events in 8 bytes, big-endian ‖ the mac of the last.
package struct CheckpointTally {
    package private(set) var consents: Int64 = 0
    package private(set) var events: Int64 = 0
    private var tree: MerkleTree

    /// - Parameter sha256: makes 32 bytes.
    package init(sha256: @escaping ([UInt8]) -> [UInt8]) { tree = MerkleTree(sha256: sha256) }

    /// A head of no events is no leaf.
    package mutating func add(_ head: ChainHead) {
        guard head.count > 0 else { return }
        consents += 1
        events += head.count
        let count = stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: head.count >> $0) }
        tree.append(head.id.uuid.bytes + count + head.mac)
    }

    /// 32 bytes.
    package var root: [UInt8] { tree.root }
}
