// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativePostgres

extension SQLStore {
    package func createConsent(_ consent: StoredConsent, of code: BlindIndex, events: [EventDraft])
        async throws(StoreFailure) -> CreateAnswer
    {
        // A new chain hangs on nothing that is stored: the writer need not make it.
        var chain = EventChain.empty
        let links = chain.extend(by: events, of: consent.record.id, rules.ledger)
        return try await writer.write(.finishes) { [rules, chain] connection throws(SQLError) in
            try rules.create(consent, of: code, chain, links, events, in: connection)
        }
    }

    package func renewConsent(_ renewal: ConsentRenewal) async throws(StoreFailure) -> WriteAnswer {
        try await writer.write(.finishes) { [rules] connection throws(SQLError) in
            try rules.renew(renewal, in: connection)
        }
    }

    package func consent(_ id: ConsentID) async throws(StoreFailure) -> StoredConsent? {
        try await readers.read { connection throws(SQLError) in try ConsentRows.consent(id, in: connection) }
    }

    package func expire(_ id: ConsentID, generation: Int64, at now: Instant, event: EventDraft)
        async throws(StoreFailure) -> WriteAnswer
    {
        try await writer.write(.finishes) { [rules] connection throws(SQLError) in
            try rules.expire(id, generation: generation, at: now, event, in: connection)
        }
    }
}

/// What a write must know of a consent's row before it changes it.
struct ConsentState {
    var status: ConsentStatus
    var statusReason: StatusReason?
    var generation: Int64
    var createdAt: Instant
    var subjectIndex: BlindIndex
    var providerSubjectIndex: BlindIndex?
    var provider: ProviderKey

    /// - Parameter isHeld: for a write that goes by it.
    init?(_ id: ConsentID, isHeld: Bool, in connection: borrowing SQLConnection) throws(SQLError) {
        let row = try connection.prepare(isHeld ? ConsentQueries.state : ConsentQueries.stateAsRead)
        try row.bind(id)
        guard try row.step() else { return nil }
        status = try row.word(ConsentStatus.self)
        statusReason = try row.optionalWord(StatusReason.self)
        generation = row.integer()
        createdAt = row.instant()
        subjectIndex = BlindIndex(row.blob())
        providerSubjectIndex = row.optionalIndex()
        provider = row.provider()
    }
}

extension WritingRules {
    fileprivate func create(
        _ consent: StoredConsent, of code: BlindIndex, _ chain: EventChain, _ links: [EventLink],
        _ events: [EventDraft],
        in connection: borrowing SQLConnection
    ) throws(SQLError) -> CreateAnswer {
        let id = consent.record.id
        let isShared = try isShared(consent.providerSubjectIndex, of: consent, consent.sharing, in: connection)
        if isShared, consent.sharing == .refuse {
            if let made = try self.consent(of: code, in: connection) { return .alreadyConsent(made) }
            // A record of its own that is older than the rule is renewed.
            return try liveID(of: consent, in: connection).map(CreateAnswer.liveExists) ?? .sharedSubject
        }
        // The unique indexes look for what stands in the way; only where something does, it is asked what.
        guard try insert(consent, chain, in: connection) else {
            if let made = try self.consent(of: code, in: connection) { return .alreadyConsent(made) }
            guard let live = try liveID(of: consent, in: connection) else {
                // What stood in the way has ended since, in another's transaction: it is tried again.
                throw connection.hasOtherWriters
                    ? .postgres(PostgresError(.conflict, detail: "the live record has ended")) : .constraint
            }
            return .liveExists(live)
        }
        if let made = try settle(code, as: id, at: consent.record.createdAt, in: connection) {
            try connection.run(ConsentQueries.takeBack, id)
            return .alreadyConsent(made)
        }
        for link in links { try link.write(of: id, in: connection) }
        if isShared, let event = events.first { try append([event.ofSharing], to: id, in: connection) }
        try tellOfEarlierClaims(on: code, to: id, in: connection)
        return .created
    }

    private func liveID(of consent: StoredConsent, in connection: borrowing SQLConnection) throws(SQLError)
        -> ConsentID?
    {
        guard let providerSubject = consent.providerSubjectIndex else { return nil }
        return try liveID(
            of: consent.record.provider, consent.subjectIndex, providerSubject, in: connection)
    }

    /// The one live record of the four.
    func liveID(
        of provider: ProviderKey, _ subject: BlindIndex, _ providerSubject: BlindIndex,
        in connection: borrowing SQLConnection
    ) throws(SQLError) -> ConsentID? {
        let row = try connection.prepare(ConsentQueries.liveID)
        try row.bind(provider.name, provider.environmentColumn, subject, providerSubject)
        return try row.step() ? ConsentID(try row.identifier()) : nil
    }

    /// - Returns: false where its identifier, or a live record of the same four, is there.
    private func insert(
        _ consent: StoredConsent, _ chain: EventChain, in connection: borrowing SQLConnection
    ) throws(SQLError) -> Bool {
        let record = consent.record
        let timing = record.timing
        return try connection.rows(
            changedBy: ConsentQueries.insert, record.id, record.provider.name, record.provider.environmentColumn,
            consent.subjectIndex, consent.providerSubjectIndex, consent.sharing != nil,
            record.status.rawValue,
            record.statusReason?.rawValue, record.issuer.clientID, record.issuer.tokenEndpoint, record.requested,
            record.granted, record.profileStatus.rawValue, record.profileFetchedAt, record.generation,
            timing.issuedAt, timing.accessTokenExpiresAt, timing.refreshTokenExpiresAt, timing.dueAt,
            record.isRefreshable, record.lastRefreshedAt, record.refreshFailures, record.client?.platform,
            record.client?.productName, record.client?.sdkVersion, record.notice?.text, record.notice?.isAssumed,
            record.createdAt, record.updatedAt, consent.key, consent.subject, consent.providerSubject,
            consent.tokens, consent.profile, chain.count, chain.head) > 0
    }

    fileprivate func renew(_ renewal: ConsentRenewal, in connection: borrowing SQLConnection)
        throws(SQLError) -> WriteAnswer
    {
        if try consent(of: renewal.code, in: connection) != nil { return .alreadyWritten }
        guard let state = try ConsentState(renewal.id, isHeld: true, in: connection), state.status.isLive else {
            return .ended
        }
        guard state.generation == renewal.expectedGeneration else { return .generationMoved }
        let timing = renewal.timing
        try connection.run(
            ConsentQueries.renew, renewal.tokens, timing.issuedAt, timing.accessTokenExpiresAt,
            timing.refreshTokenExpiresAt, timing.dueAt, renewal.isRefreshable, renewal.requested, renewal.granted,
            renewal.profile, renewal.profile.map { _ in ProfileStatus.current.rawValue },
            renewal.profile.map { _ in renewal.at }, renewal.issuer.clientID, renewal.issuer.tokenEndpoint,
            renewal.client?.platform, renewal.client?.productName, renewal.client?.sdkVersion, renewal.notice?.text,
            renewal.notice?.isAssumed, renewal.at, renewal.id)
        try append(renewal.events, to: renewal.id, in: connection)
        _ = try settle(renewal.code, as: renewal.id, at: renewal.at, in: connection)
        try tellOfEarlierClaims(on: renewal.code, to: renewal.id, in: connection)
        return .written
    }

    fileprivate func expire(
        _ id: ConsentID, generation: Int64, at now: Instant, _ event: EventDraft,
        in connection: borrowing SQLConnection
    ) throws(SQLError) -> WriteAnswer {
        guard let state = try ConsentState(id, isHeld: true, in: connection) else { return .ended }
        guard state.status.isLive else { return state.status == .expired ? .alreadyWritten : .ended }
        guard state.generation == generation else { return .generationMoved }
        try connection.run(ConsentQueries.expire, now, id)
        try append([event], to: id, in: connection)
        return .written
    }
}

private enum ConsentQueries {
    private static let stateText = """
        SELECT status, status_reason, generation, created_at, subject_index, provider_subject_index, provider,
            environment
        FROM consents WHERE id = ?
        """
    static let state = SQLQuery(locking: stateText)
    static let stateAsRead = SQLQuery(stateText)
    static let liveID = SQLQuery(
        """
        SELECT id FROM consents
        WHERE provider = ? AND environment = ? AND subject_index = ? AND provider_subject_index = ?
            AND status IN ('active', 'failing', 'reauthorization_required')
        """)
    static let insert = SQLQuery(
        """
        INSERT INTO consents (id, provider, environment, subject_index, provider_subject_index, is_sharing_watched,
            status, status_reason,
            client_id, token_endpoint, requested_scopes, granted_scopes, profile_status, profile_fetched_at,
            generation, issued_at, access_token_expires_at, refresh_token_expires_at, due_at, is_refreshable,
            last_refreshed_at, refresh_failures, app_platform, app_product_name, app_sdk_version, notice,
            notice_is_assumed, created_at, updated_at, key_sealed, subject_sealed, provider_subject_sealed,
            tokens_sealed, profile_sealed, event_count, chain_head, head_period)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
            ?, ?, \(period))
        ON CONFLICT DO NOTHING
        """)
    static let takeBack = SQLQuery("DELETE FROM consents WHERE id = ?")
    static let renew = SQLQuery(
        """
        UPDATE consents SET status = 'active', status_reason = NULL, generation = generation + 1, tokens_sealed = ?,
            issued_at = ?, access_token_expires_at = ?, refresh_token_expires_at = ?, due_at = ?, is_refreshable = ?,
            requested_scopes = ?, granted_scopes = ?, profile_sealed = coalesce(?, profile_sealed),
            profile_status = coalesce(?, profile_status), profile_fetched_at = coalesce(?, profile_fetched_at), client_id = ?, token_endpoint = ?, app_platform = ?, app_product_name = ?,
            app_sdk_version = ?, notice = ?, notice_is_assumed = ?, updated_at = ?, refresh_failures = 0,
            due_before_claim = NULL, attempt_id = NULL, attempt_phase = NULL, attempt_owner = NULL,
            attempt_sent_at = NULL, lease_until = NULL, lease_boot = NULL, unknown_attempt_id = NULL,
            unknown_owner = NULL, unknown_sent_at = NULL, spare_tokens_sealed = NULL, spare_generation = NULL,
            saved_attempt = NULL
        WHERE id = ?
        """)
    static let expire = SQLQuery(
        """
        UPDATE consents SET status = 'expired', status_reason = 'no_refresh_token', tokens_sealed = NULL,
            spare_tokens_sealed = NULL, spare_generation = NULL, due_at = NULL, due_before_claim = NULL, attempt_id = NULL, attempt_phase = NULL, attempt_owner = NULL,
            attempt_sent_at = NULL, lease_until = NULL, lease_boot = NULL, updated_at = ?
        WHERE id = ?
        """)
}
