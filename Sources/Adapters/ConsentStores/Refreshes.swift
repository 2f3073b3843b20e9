// SPDX-License-Identifier: Apache-2.0
package import Consents

extension SQLStore {
    package func claimRefresh(_ claim: RefreshClaim) async throws(StoreFailure) -> ClaimAnswer {
        try await writer.write(.starts) { [rules] connection throws(SQLError) in
            try rules.claim(claim, in: connection)
        }
    }

    package func saveTokens(_ write: TokenWrite) async throws(StoreFailure) -> WriteAnswer {
        let prepared = rules.prepared(write)
        return try await writer.write(.finishes) { [rules] connection throws(SQLError) in
            if let prepared, try rules.saveUsual(write, prepared, in: connection) { return .written }
            return try rules.save(write, in: connection)
        }
    }

    package func settleRefresh(_ settlement: RefreshSettlement) async throws(StoreFailure) -> WriteAnswer {
        try await writer.write(.finishes) { [rules] connection throws(SQLError) in
            try rules.settle(settlement, in: connection)
        }
    }
}

/// A consent's row as a refresh finds it.
struct RefreshRow {
    var provider: ProviderKey
    var status: ConsentStatus
    var generation: Int64
    var attempt: AttemptID?
    var phase: RefreshAttempt.Phase?
    /// Nil where none was given.
    var lease: Lease?
    /// The last attempt that wrote tokens.
    var saved: AttemptID?
    /// The last attempt that wrote a failure.
    var settled: AttemptID?
    var hasTokens: Bool
    /// Whether another refresh token came once.
    var hasRotated: Bool
    /// The lease's end while claimed; nil where nothing is to be refreshed.
    var dueAt: Instant?
    var chain: EventChain

    /// - Parameter isWaitedFor: while another transaction has it in hand; else it is nil then too.
    init?(_ id: ConsentID, isWaitedFor: Bool = true, in connection: borrowing SQLConnection) throws(SQLError) {
        let row = try connection.prepare(isWaitedFor ? RefreshQueries.select : RefreshQueries.selectFree)
        try row.bind(id)
        guard try row.step() else { return nil }
        provider = row.provider()
        status = try row.word(ConsentStatus.self)
        generation = row.integer()
        attempt = try row.optionalIdentifier().map(AttemptID.init)
        phase = try row.optionalWord(RefreshAttempt.Phase.self)
        let owner = try row.optionalIdentifier()
        let until = row.integer()
        let boot = row.optionalText()
        if let owner, let boot { lease = Lease(owner: InstanceID(owner), until: until, boot: boot) }
        saved = try row.optionalIdentifier().map(AttemptID.init)
        settled = try row.optionalIdentifier().map(AttemptID.init)
        hasTokens = row.flag()
        hasRotated = row.flag()
        dueAt = row.optionalInstant()
        chain = EventChain(count: row.integer(), head: row.blob())
    }
}

extension WritingRules {
    fileprivate func claim(_ claim: RefreshClaim, in connection: borrowing SQLConnection)
        throws(SQLError) -> ClaimAnswer
    {
        try leases.mustBeProven()
        if try claimUsual(claim, in: connection) { return .claimed }
        guard try mayRefresh(in: connection) else { return .refreshingStopped }
        guard let row = try RefreshRow(claim.id, isWaitedFor: !claim.isOfDue, in: connection) else {
            // Of what is due another instance has this one in hand, or it has gone: the batch does not wait for it.
            return claim.isOfDue && connection.hasOtherWriters ? .held : .ended
        }
        guard row.hasTokens, row.status.isGrantHeld || (claim.isForced && row.status == .reauthorizationRequired)
        else { return .ended }
        guard row.generation == claim.generation else { return .generationMoved }
        if row.phase == .sent {
            // A commit of unknown fate is asked for again by the same attempt.
            if row.attempt == claim.attempt { return .claimed }
            if let lease = row.lease, try leases.stands(lease, in: connection) { return .held }
            // The row is decided before anybody sends again: what went out is unknown from now on.
            try nameUnknown(
                claim.id, row, costsGrants: claim.costsGrants, onceMoreSince: claim.onceMoreSince, at: claim.at,
                in: connection)
            return .held
        }
        if claim.isOfDue, row.dueAt.map({ $0 > claim.at && $0 != claim.unbelieved }) ?? true { return .notDue }
        if row.phase == .unknown, row.attempt != claim.judged { return .held }
        let permit = try permit(
            claim.asker, claim.attempt, of: claim.id, lease: claim.lease, at: row.provider, now: claim.at,
            in: connection)
        if case .blocked(let until, let reason) = permit { return .blocked(until: until, reason) }
        let lease = try leases.lease(for: claim.lease, in: connection)
        try connection.run(
            RefreshQueries.claim, claim.attempt, lease.owner, claim.at, lease.until, lease.boot,
            claim.at.advanced(by: claim.lease), claim.id)
        return .claimed
    }

    /// Names a refresh that was sent and whose owner is gone. What it may cost is the configured policy's to say: of a
    /// provider that is not configured nothing is sent, so nothing is at stake.
    func nameUnknown(
        _ id: ConsentID, _ policies: [ProviderKey: RefreshPolicy], at now: Instant,
        in connection: borrowing SQLConnection
    ) throws(SQLError) {
        guard let row = try RefreshRow(id, in: connection) else { return }
        let policy = policies[row.provider]?.forGrant(hasRotated: row.hasRotated)
        try nameUnknown(
            id, row, costsGrants: policy?.reuse == .forbidden, onceMoreSince: policy?.onceMoreSince(now), at: now,
            in: connection)
    }

    /// In the row, in the trail and in what is known of the provider.
    private func nameUnknown(
        _ id: ConsentID, _ row: RefreshRow, costsGrants: Bool, onceMoreSince: Instant?, at now: Instant,
        in connection: borrowing SQLConnection
    ) throws(SQLError) {
        let wasOver = row.status == .reauthorizationRequired
        if let attempt = row.attempt, costsGrants, !wasOver {
            let note = HealthNote(provider: row.provider, event: .abandoned, spread: 0)
            try take(note, of: attempt, at: now, in: connection)
        }
        try connection.run(RefreshQueries.nameUnknown, onceMoreSince, now, costsGrants, now, id)
        let event = EventDraft.refreshNamedUnknown(at: now)
        try append([wasOver ? event.ofForcedTry : event], to: id, in: connection)
    }

    fileprivate func save(_ write: TokenWrite, in connection: borrowing SQLConnection) throws(SQLError)
        -> WriteAnswer
    {
        let row = try RefreshRow(write.id, in: connection)
        if let row, row.status.isLive, row.generation != write.expectedGeneration, row.saved == write.attempt {
            return .alreadyWritten
        }
        if let note = write.health { try take(note, of: write.attempt, at: write.at, in: connection) }
        guard var row, row.status.isLive else { return .ended }
        guard row.generation == write.expectedGeneration else {
            try keepSpare(write, in: row, in: connection)
            return .generationMoved
        }
        for link in row.chain.extend(by: write.events, of: write.id, ledger) {
            try link.write(of: write.id, in: connection)
        }
        let timing = write.timing
        try connection.run(
            row.status == .active ? RefreshQueries.save : RefreshQueries.heal, write.tokens, timing.issuedAt,
            timing.accessTokenExpiresAt, timing.refreshTokenExpiresAt, timing.dueAt, write.isRefreshable, write.granted,
            write.attempt, write.at, write.at, write.hasRotated, row.chain.count, row.chain.head, write.id)
        return .written
    }

    fileprivate func settle(_ settlement: RefreshSettlement, in connection: borrowing SQLConnection)
        throws(SQLError) -> WriteAnswer
    {
        guard let row = try RefreshRow(settlement.id, in: connection) else { return .ended }
        if row.hasSettled(settlement) { return .alreadyWritten }
        let isOurs = row.generation == settlement.generation && row.attempt == settlement.attempt
        let isBraked = try take(settlement, isOurs: isOurs && row.status.isLive, in: connection)
        guard row.status.isLive else { return .ended }
        guard isOurs else { return .generationMoved }
        if case .over(let reason) = settlement.change, isBraked {
            try hold(reason, settlement, of: row.provider, in: connection)
            return .verdictHeld
        }
        let (id, attempt, now) = (settlement.id, settlement.attempt, settlement.at)
        switch settlement.change {
        case .released: try connection.run(RefreshQueries.release, attempt, id)
        case .deferred(let dueAt): try connection.run(RefreshQueries.postpone, dueAt, attempt, id)
        case .failing(let dueAt): try connection.run(RefreshQueries.fail, dueAt, attempt, now, id)
        case .unknown(let dueAt): try connection.run(RefreshQueries.leaveUnknown, dueAt, attempt, now, id)
        case .over(let reason): try connection.run(RefreshQueries.end, reason.rawValue, attempt, now, id)
        }
        try append(settlement.events, to: id, in: connection)
        return .written
    }

    /// - Parameter isOurs: where the row has new tokens, or has ended, no verdict over the old ones counts.
    /// - Returns: whether the death brake holds.
    private func take(
        _ settlement: RefreshSettlement, isOurs: Bool, in connection: borrowing SQLConnection
    ) throws(SQLError) -> Bool {
        guard var note = settlement.health else { return false }
        if case .declaredDead = note.event, !isOurs { note.event = .codeRefused }
        return try take(note, of: settlement.attempt, at: settlement.at, in: connection)
    }

    /// The row keeps its tokens, and may be a trial.
    private func hold(
        _ reason: StatusReason, _ settlement: RefreshSettlement, of provider: ProviderKey,
        in connection: borrowing SQLConnection
    ) throws(SQLError) {
        let (id, now) = (settlement.id, settlement.at)
        try connection.run(
            RefreshQueries.fail, settlement.dueIfHeld ?? now.advanced(by: HealthLimits.trialInterval),
            settlement.attempt, now, id)
        try append(
            settlement.events.map { event in
                EventDraft(
                    type: .refreshFailed, at: event.at, caller: event.caller, requestID: event.requestID,
                    data: event.data.merging(["failure": .text("verdict_held")]) { _, last in last })
            }, to: id, in: connection)
        try keepVerdict(reason, on: id, generation: settlement.generation, of: provider, at: now, in: connection)
    }
}

extension RefreshRow {
    /// Whether the same attempt wrote the same before.
    fileprivate func hasSettled(_ settlement: RefreshSettlement) -> Bool {
        guard settled == settlement.attempt else { return false }
        if attempt != settlement.attempt { return true }
        if phase == .unknown, case .unknown = settlement.change { return true }
        return false
    }
}

enum RefreshQueries {
    private static let row = """
        SELECT provider, environment, status, generation, attempt_id, attempt_phase, attempt_owner, lease_until,
            lease_boot, saved_attempt, settled_attempt, tokens_sealed IS NOT NULL, has_rotated, due_at, event_count,
            chain_head
        FROM consents WHERE id = ?
        """
    static let select = SQLQuery(locking: row)
    static let selectFree = SQLQuery(lockingFree: row)

    /// An attempt of unknown outcome is remembered behind the new one: what comes of this need not tell of that.
    static let claimed = """
        unknown_attempt_id = attempt_id, unknown_owner = attempt_owner, unknown_sent_at = attempt_sent_at,
        attempt_id = ?, attempt_phase = 'sent', attempt_owner = ?, attempt_sent_at = ?, lease_until = ?, lease_boot = ?,
        due_before_claim = due_at, due_at = ?
        """
    static let claim = SQLQuery("UPDATE consents SET \(claimed) WHERE id = ?")

    /// A second sending without a known end is told by the first one's name, which stays, and has the first one's time.
    /// Where a second sending could cost the grant, it is not due before its access token has lapsed.
    static let nameUnknown = SQLQuery(
        """
        UPDATE consents SET attempt_phase = 'unknown', lease_until = NULL, lease_boot = NULL, due_before_claim = NULL,
            attempt_sent_at = coalesce(unknown_sent_at, attempt_sent_at), unknown_owner = NULL, unknown_sent_at = NULL,
            due_at = CASE WHEN status = 'reauthorization_required' THEN NULL
                WHEN unknown_attempt_id IS NULL AND attempt_sent_at > ? THEN ?
                WHEN ? = 1 AND access_token_expires_at > due_at THEN access_token_expires_at ELSE due_at END,
            status = CASE status WHEN 'reauthorization_required' THEN status ELSE 'failing' END,
            refresh_failures = refresh_failures + 1, last_outcome = 'unknown', updated_at = ?
        WHERE id = ? AND attempt_phase = 'sent'
        """)

    static let saved = """
        status_reason = NULL, generation = generation + 1, tokens_sealed = ?, issued_at = ?, access_token_expires_at = ?,
        refresh_token_expires_at = ?, due_at = ?, is_refreshable = ?, granted_scopes = ?, saved_attempt = ?,
        last_refreshed_at = ?, updated_at = ?, refresh_failures = 0,
        has_rotated = CASE WHEN ? = 1 THEN 1 ELSE has_rotated END, spare_tokens_sealed = NULL, spare_generation = NULL, last_outcome = 'refreshed', due_before_claim = NULL,
        attempt_id = NULL, attempt_phase = NULL, attempt_owner = NULL, attempt_sent_at = NULL, lease_until = NULL,
        lease_boot = NULL, unknown_attempt_id = NULL, unknown_owner = NULL, unknown_sent_at = NULL,
        event_count = ?, chain_head = ?, head_period = \(period)
        """
    /// Of a grant that is active. A status that is set, even to what it was, rewrites its place in each index that has
    /// one, and one of them is in the order of a digest: a page somewhere in the file for each grant.
    static let save = SQLQuery("UPDATE consents SET \(saved) WHERE id = ?")
    static let heal = SQLQuery("UPDATE consents SET status = 'active', \(saved) WHERE id = ?")

    /// Back to what stood here before the claim, an attempt of unknown outcome included.
    private static let stepBack = """
        attempt_id = unknown_attempt_id, attempt_owner = unknown_owner, attempt_sent_at = unknown_sent_at,
        attempt_phase = CASE WHEN unknown_attempt_id IS NULL THEN NULL ELSE 'unknown' END,
        unknown_attempt_id = NULL, unknown_owner = NULL, unknown_sent_at = NULL,
        lease_until = NULL, lease_boot = NULL, due_before_claim = NULL
        """
    static let release = SQLQuery(
        """
        UPDATE consents SET due_at = CASE attempt_phase WHEN 'sent' THEN due_before_claim ELSE due_at END,
            settled_attempt = ?, \(stepBack)
        WHERE id = ?
        """)
    static let postpone = SQLQuery(
        """
        UPDATE consents SET due_at = CASE WHEN due_before_claim IS NULL AND attempt_phase = 'sent' THEN NULL ELSE ? END,
            settled_attempt = ?, \(stepBack)
        WHERE id = ?
        """)
    static let fail = SQLQuery(
        """
        UPDATE consents SET status = 'failing', status_reason = NULL, refresh_failures = refresh_failures + 1,
            last_outcome = 'failing', due_at = ?, settled_attempt = ?, updated_at = ?, \(stepBack)
        WHERE id = ?
        """)
    static let leaveUnknown = SQLQuery(
        """
        UPDATE consents SET status = 'failing', status_reason = NULL, refresh_failures = refresh_failures + 1,
            last_outcome = 'unknown', attempt_phase = 'unknown',
            attempt_sent_at = coalesce(unknown_sent_at, attempt_sent_at), due_at = ?, settled_attempt = ?, updated_at = ?,
            lease_until = NULL, lease_boot = NULL, due_before_claim = NULL, unknown_owner = NULL, unknown_sent_at = NULL
        WHERE id = ?
        """)
    static let end = SQLQuery(
        """
        UPDATE consents SET status = 'reauthorization_required', status_reason = ?, last_outcome = 'over',
            due_at = NULL, settled_attempt = ?, updated_at = ?, attempt_id = NULL, attempt_phase = NULL,
            attempt_owner = NULL, attempt_sent_at = NULL, lease_until = NULL, lease_boot = NULL,
            due_before_claim = NULL, unknown_attempt_id = NULL, unknown_owner = NULL, unknown_sent_at = NULL
        WHERE id = ?
        """)
}
