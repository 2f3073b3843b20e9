// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeSystem

/// What a transaction with a server has read and goes by for a moment: of rows that every code and every claim asks for
/// and next to nobody writes, so that a batch asks for them once and not with a round trip for each write.
///
/// They are read without a lock, as they would be each time: who writes them at the same moment comes after whoever has
/// read before. A transaction that had to wait for a row meanwhile reads again, for what was written in that time holds.
/// What is decided on anything but a quiet provider is read again with the row held. What the transaction writes itself it
/// forgets here.
final class SeenInTransaction {
    /// A batch that waits for nobody takes no longer.
    private static let believed = Duration.milliseconds(20)

    /// Providers without a row, or with one that tells of nothing.
    private var quiet: Set<ProviderKey> = []
    private var heldLife: ClaimableLife?
    /// When the first of it was read.
    private var since: MonotonicInstant?

    /// How far this instance's claims may trust the store; nil where that has to be read.
    var life: ClaimableLife? { isFresh ? heldLife : nil }

    func isQuiet(_ provider: ProviderKey) -> Bool { isFresh && quiet.contains(provider) }

    func sawQuiet(_ provider: ProviderKey) {
        begin()
        quiet.insert(provider)
    }

    func saw(_ life: ClaimableLife) {
        begin()
        heldLife = life
    }

    func forget() {
        quiet.removeAll(keepingCapacity: true)
        heldLife = nil
        since = nil
    }

    private func begin() {
        if isFresh { return }
        forget()
        since = .now()
    }

    private var isFresh: Bool { since.map { $0.duration(to: .now()) < Self.believed } ?? false }
}

/// What the store tells of its life to who claims a refresh.
struct ClaimableLife {
    var incarnation: [UInt8]?
    /// The step that this instance has made itself.
    var number: Int64
    var isStopped: Bool

    /// - Parameter known: where this instance saw the store last.
    func takesClaims(of known: StoreEpoch?) -> Bool {
        if isStopped { return false }
        guard let known else { return true }
        return incarnation == known.incarnation.bytes && number >= known.number
    }
}

extension SQLConnection {
    /// Nil for a file, where such a read costs less than to remember it.
    @inline(never) var seen: SeenInTransaction? {
        switch self {
        case .sqlite: nil
        case .postgres(let link): link.seen
        }
    }
}
