// SPDX-License-Identifier: Apache-2.0
package import Consents
package import Observability

/// Delivers the revocation outbox: each token is revoked at the provider that gave it, and what came of it is kept. Where
/// revoking one token ends all that the person granted, another consent of the same person holds it back while it lives.
package final class DeliverRevocations: Sendable {
    private let directory: ProviderDirectory
    private let store: any ConsentStore
    private let vault: any TokenVault
    private let time: any Timekeeper
    private let log: Log

    /// How often a delivery is tried before it is given up: more than a week of backing off.
    static let mostTries = 60

    /// Taken at a time: one after the other they end within the lease, however long the provider takes.
    private static let batch = 4
    private static let lease = Duration.seconds(180)
    /// How long one is held back before it is looked at again; a withdrawal of the other consent ends that at once.
    private static let hold = Duration.seconds(6 * 3600)

    package init(
        directory: ProviderDirectory, store: any ConsentStore, vault: any TokenVault, time: any Timekeeper, log: Log
    ) {
        self.directory = directory
        self.store = store
        self.vault = vault
        self.time = time
        self.log = log
    }

    /// One pass over what is due.
    /// - Returns: how many deliveries were tried.
    /// - Throws: `StoreFailure`.
    @discardableResult
    package func callAsFunction(limit: Int) async throws(StoreFailure) -> Int {
        var tried = 0
        while tried < limit {
            let tasks = try await store.claimRevocations(
                limit: min(DeliverRevocations.batch, limit - tried), lease: DeliverRevocations.lease, at: time.now)
            if tasks.isEmpty { return tried }
            for task in tasks {
                if try await isHeldBack(task) {
                    try await hold(task)
                } else {
                    try await store.settleRevocation(settlement(of: task, after: await outcome(of: task)))
                }
            }
            tried += tasks.count
        }
        return tried
    }

    private func isHeldBack(_ task: RevocationTask) async throws(StoreFailure) -> Bool {
        guard let facts = directory.connection(named: task.draft.provider.name)?.facts,
            facts.key == task.draft.provider, facts.revocationScope == .grant
        else { return false }
        return try await store.wouldEndAnother(task.draft.id)
    }

    private func hold(_ task: RevocationTask) async throws(StoreFailure) {
        let now = time.now
        try await store.settleRevocation(
            RevocationSettlement(
                id: task.draft.id, outcome: .held(until: now.advanced(by: DeliverRevocations.hold)), at: now,
                event: event(task, [:], "held", at: now)))
        log.info(
            "a revocation waits, for it would end another consent of the same person",
            [Fact(.provider, task.draft.provider.name), Fact(.consentID, task.draft.consent.map { "\($0)" })])
    }

    private func event(
        _ task: RevocationTask, _ more: EventData, _ outcome: String, at now: Instant
    ) -> EventDraft {
        let data: EventData = ["token": .text(task.draft.kind.rawValue), "outcome": .text(outcome)]
        return EventDraft(
            type: .tokenRevocation, at: now, caller: "gateway", requestID: nil,
            data: data.merging(more) { own, _ in own })
    }

    private func outcome(of task: RevocationTask) async -> RevocationOutcome {
        let draft = task.draft
        guard let connection = directory.connection(named: draft.provider.name),
            connection.facts.key == draft.provider, connection.facts.issuer.clientID == draft.clientID
        else {
            log.warning("a token's client is not configured any more", [Fact(.provider, draft.provider.name)])
            return .failed(ProviderStatement(status: 0), retryAfter: nil)
        }
        do {
            let token = try vault.openToken(draft.token, outbox: draft.id)
            let outcome = await connection.revoke(token, kind: draft.kind)
            if let secret = connection.takeProvenSecret() {
                await TellProvenSecret(store: store, time: time, log: log)(secret, of: draft.provider)
            }
            return outcome
        } catch {
            log.error("a token in the outbox cannot be opened", [Fact(.reason, "\(error)")])
            return .refused(ProviderStatement(status: 0))
        }
    }

    private func settlement(of task: RevocationTask, after outcome: RevocationOutcome) -> RevocationSettlement {
        let now = time.now
        let (end, statement): (RevocationSettlement.Outcome, ProviderStatement?) =
            switch outcome {
            case .revoked: (.revoked, nil)
            case .unsupported: (.unsupported, nil)
            case .refused(let statement): (.failed, statement)
            case .failed(let statement, let told):
                task.tries + 1 < DeliverRevocations.mostTries
                    ? (.again(at: now.advanced(by: told ?? delay(task))), statement) : (.failed, statement)
            }
        if case .again = end { return RevocationSettlement(id: task.draft.id, outcome: end, at: now, event: nil) }
        var data: EventData = [:]
        if let statement {
            data["provider_status"] = .integer(Int64(statement.status))
            data["provider_error"] = statement.error.map(EventValue.text)
        }
        let event = event(task, data, DeliverRevocations.word(of: end), at: now)
        return RevocationSettlement(id: task.draft.id, outcome: end, at: now, event: event)
    }

    private func delay(_ task: RevocationTask) -> Duration {
        RefreshPolicy.backoff(
            afterFailures: task.tries,
            spread: RefreshPolicy.spread(of: ConsentID(task.draft.id), generation: Int64(task.tries)))
    }

    static func word(of outcome: RevocationSettlement.Outcome) -> String {
        switch outcome {
        case .revoked: "revoked"
        case .unsupported: "unsupported"
        case .failed: "failed"
        case .again: "pending"
        case .held: "held"
        }
    }
}
