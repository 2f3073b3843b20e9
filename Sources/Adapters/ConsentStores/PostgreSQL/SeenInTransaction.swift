// SPDX-License-Identifier: Apache-2.0
internal import Consents

/// What a transaction with a server has read once and goes by to its end: of rows that every code and every claim asks
/// for and next to nobody writes, so that a batch asks for them once and not with a round trip for each write.
///
/// They are read without a lock, as they would be each time: who writes them at the same moment comes after whoever has
/// read before, and no later read of a transaction is nearer to its commit than that. What is decided on anything but a
/// quiet provider is read again with the row held. What the transaction writes itself it forgets here.
final class SeenInTransaction {
    /// Providers without a row, or with one that tells of nothing.
    private(set) var quiet: Set<ProviderKey> = []
    /// How far this instance's claims may trust the store.
    var life: ClaimableLife?

    func sawQuiet(_ provider: ProviderKey) { quiet.insert(provider) }

    func forget() {
        quiet.removeAll(keepingCapacity: true)
        life = nil
    }
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
