// SPDX-License-Identifier: Apache-2.0
internal import Consents

/// A refresh as nearly all are: of an active grant of which no sending is in doubt, at a provider whose calls have shown
/// nothing. Its claim is one statement with all of its conditions, its tokens are another one. Where a condition does
/// not hold nothing is written, and the long way is gone, which tells why.
///
/// In a file alone: who writes there is alone, so what a statement reads is what it changes. On a server a row may be
/// changed between a statement's view of all rows and its lock on this one, and a gate that was closed with it would not
/// be seen.
extension WritingRules {
    /// - Returns: whether the claim holds.
    func claimUsual(_ claim: RefreshClaim, in connection: borrowing SQLConnection) throws(SQLError) -> Bool {
        guard !connection.hasOtherWriters, !claim.isForced, claim.judged == nil, claim.unbelieved == nil
        else { return false }
        let known = epochs.value
        let incarnation = known?.incarnation.bytes
        let lease = try leases.lease(for: claim.lease, in: connection)
        return try connection.rows(
            changedBy: UsualQueries.claim, claim.attempt, lease.owner, claim.at, lease.until, lease.boot,
            claim.at.advanced(by: claim.lease), claim.id, claim.generation, claim.isOfDue, claim.at,
            incarnation, incarnation, leases.instance, known?.number) > 0
    }

    /// What is written with the tokens, where the consent's chain is still as it was found; nil where that is not known.
    func prepared(_ write: TokenWrite) -> PreparedSave? {
        guard case .machine = leases.witness, let found = write.foundChain, write.health?.event.tellsNothingNew ?? true
        else { return nil }
        var chain = EventChain(count: found.count, head: found.head)
        let links = chain.extend(by: write.events, of: write.id, ledger)
        return PreparedSave(found: found, chain: chain, links: links)
    }

    /// - Returns: whether the tokens were written.
    func saveUsual(_ write: TokenWrite, _ prepared: PreparedSave, in connection: borrowing SQLConnection)
        throws(SQLError) -> Bool
    {
        let timing = write.timing
        let count = try connection.rows(
            changedBy: UsualQueries.save, write.tokens, timing.issuedAt, timing.accessTokenExpiresAt,
            timing.refreshTokenExpiresAt, timing.dueAt, write.isRefreshable, write.granted, write.attempt, write.at,
            write.at, write.hasRotated, prepared.chain.count, prepared.chain.head, write.id, write.expectedGeneration,
            prepared.found.count, prepared.found.head)
        guard count > 0 else { return false }
        for link in prepared.links { try link.write(of: write.id, in: connection) }
        return true
    }
}

/// The end of a chain as it was found, and what comes behind it.
struct PreparedSave: Sendable {
    let found: ChainEnd
    let chain: EventChain
    let links: [EventLink]
}

private enum UsualQueries {
    /// As `ProviderHealth()` is: what has no row, or a row whose columns are as they begin.
    private static let providerHasShownNothing = """
        NOT EXISTS (
            SELECT 1 FROM provider_states s
            WHERE s.provider = consents.provider AND s.environment = consents.environment
                AND (s.gate_since IS NOT NULL OR s.throttles > 0 OR s.breaker_since IS NOT NULL OR s.failed_trials > 0
                    OR s.consecutive_failures > 0 OR s.paused_since IS NOT NULL OR s.accusers <> ''
                    OR s.brake_since IS NOT NULL OR s.brake_window <> '' OR s.trial_attempt IS NOT NULL
                    OR s.next_trial_at IS NOT NULL OR s.recovery_since IS NOT NULL))
        """
    /// As ``WritingRules/mayRefresh(in:)`` has it.
    static let claim = SQLQuery(
        """
        UPDATE consents SET \(RefreshQueries.claimed)
        WHERE id = ? AND generation = ? AND (status = 'active' OR status = 'failing') AND tokens_sealed IS NOT NULL
            AND attempt_phase IS NULL AND (? = 0 OR due_at <= ?)
            AND EXISTS (
                SELECT 1 FROM store_identity
                WHERE refresh_stop IS NULL AND (? IS NULL OR incarnation = ?
                    AND coalesce((SELECT epoch FROM epoch_steps WHERE instance = ?), 0) >= ?))
            AND \(providerHasShownNothing)
        """)
    static let save = SQLQuery(
        """
        UPDATE consents SET \(RefreshQueries.saved)
        WHERE id = ? AND generation = ? AND status = 'active' AND event_count = ? AND chain_head = ?
            AND \(providerHasShownNothing)
        """)
}
