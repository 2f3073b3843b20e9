// SPDX-License-Identifier: Apache-2.0
internal import Consents

/// What the writing thread goes by: which leases stand, and what chains events.
///
/// A class, because every write takes it along.
final class WritingRules: Sendable {
    let leases: LeaseClock
    let ledger: any Ledger
    let epochs: KnownEpoch

    init(leases: LeaseClock, ledger: any Ledger, epochs: KnownEpoch) {
        self.leases = leases
        self.ledger = ledger
        self.epochs = epochs
    }
}
