// SPDX-License-Identifier: Apache-2.0
/// Lets go what nobody may keep any longer. Tokens and attributes of an ended grant went with its end; this is the rest.
package protocol Retention: Sendable {
    /// How much each step would let go now.
    func retentionTally(_ rules: RetentionRules, at now: Instant) async throws(StoreFailure) -> [RetentionStep: Int]
    /// Does up to `limit` of one step.
    /// - Returns: how many; less than `limit` where no more are left.
    func retain(_ step: RetentionStep, _ rules: RetentionRules, at now: Instant, limit: Int)
        async throws(StoreFailure) -> Int
}

/// How long what remains after an end is kept.
package struct RetentionRules: Sendable {
    /// An ended record, with whom it is of.
    package var records: Duration
    /// What a record's events tell, from its end on.
    package var evidence: Duration
    /// A grant that needs a new consent, with its sealed tokens.
    package var reauthorizationRequired: Duration
    /// Codes that brought no consent, and revocations that were delivered or given up.
    package var exchanges: Duration

    /// How long tokens stay sealed whose identity was refused (refresh.md, *One refresh*, 6).
    package static let quarantine = Duration.seconds(86_400)

    package init(records: Duration, evidence: Duration, reauthorizationRequired: Duration, exchanges: Duration) {
        self.records = records
        self.evidence = evidence
        self.reauthorizationRequired = reauthorizationRequired
        self.exchanges = exchanges
    }
}

/// What is let go, in the order in which a pass does it: what one step ends is not the next one's at once.
package enum RetentionStep: String, Sendable, CaseIterable {
    /// What the events of records erased before tell. Where the chain ended at each checkpoint stays, and that it was
    /// the program that took the rest away.
    case evidence
    /// Codes whose time is over, and what was told of them.
    case codes
    /// Revocations that are over.
    case revocations
    /// Tokens that came with an identity that was refused.
    case quarantine
    /// Ended records: who it was, and the consent's key with all that is sealed under it. The chain stays.
    case records
    /// Grants that need a new consent end: `expired`, reason `retention`.
    case grants
}
