// SPDX-License-Identifier: Apache-2.0
internal import Consents

/// What the writing thread goes by: which leases stand, and what chains events.
struct WritingRules: Sendable {
    let leases: LeaseClock
    let ledger: any Ledger
    let epochs: KnownEpoch
}
