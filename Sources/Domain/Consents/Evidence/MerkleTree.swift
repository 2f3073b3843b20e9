// SPDX-License-Identifier: Apache-2.0
/// A Merkle tree over leaves that come one by one (RFC 6962, section 2.1): it keeps one hash a level.
package struct MerkleTree {
    /// Whole subtrees from left to right, each smaller than the one before.
    private var peaks: [(level: Int, hash: [UInt8])] = []
    private let sha256: ([UInt8]) -> [UInt8]

    /// - Parameter sha256: makes 32 bytes.
    package init(sha256: @escaping ([UInt8]) -> [UInt8]) { self.sha256 = sha256 }

    package mutating func append(_ leaf: [UInt8]) {
        var (level, hash) = (0, sha256([0x00] + leaf))
        while let last = peaks.last, last.level == level {
            hash = node(last.hash, hash)
            level += 1
            peaks.removeLast()
        }
        peaks.append((level, hash))
    }

    /// The root of what has come so far, 32 bytes; the hash of nothing where nothing has.
    package var root: [UInt8] {
        guard var hash = peaks.last?.hash else { return sha256([]) }
        for peak in peaks.dropLast().reversed() { hash = node(peak.hash, hash) }
        return hash
    }

    private func node(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] { sha256([0x01] + left + right) }
}
