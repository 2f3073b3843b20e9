// SPDX-License-Identifier: Apache-2.0
internal import Consents

/// A consent as it lies in one row.
enum ConsentRows {
    private static let columns = """
        id, provider, environment, client_id, token_endpoint, status, status_reason, superseded_by,
        requested_scopes, granted_scopes, profile_status, profile_fetched_at, generation,
        issued_at, access_token_expires_at, refresh_token_expires_at,
        CASE attempt_phase WHEN 'sent' THEN due_before_claim ELSE due_at END,
        is_refreshable, last_refreshed_at, refresh_failures,
        app_platform, app_product_name, app_sdk_version, notice, notice_is_assumed, created_at, updated_at,
        subject_index, key_sealed, subject_sealed, provider_subject_index, provider_subject_sealed,
        tokens_sealed, profile_sealed, attempt_id, attempt_phase, attempt_owner, attempt_sent_at,
        unknown_attempt_id IS NOT NULL, spare_tokens_sealed, spare_generation, has_rotated
        """
    /// Of an erased one nothing is left to hand out.
    private static let byID = SQLQuery("SELECT \(columns) FROM consents WHERE id = ? AND erased_at IS NULL")
    static func consent(_ id: ConsentID, in connection: borrowing SQLConnection) throws(SQLError)
        -> StoredConsent?
    {
        let row = try connection.prepare(byID)
        try row.bind(id)
        return try row.step() ? try consent(row) : nil
    }

    private static func consent(_ row: borrowing SQLStatement) throws(SQLError) -> StoredConsent {
        let record = try record(row)
        var stored = StoredConsent(
            record: record, subjectIndex: BlindIndex(row.blob()), key: row.optionalSealed(),
            subject: row.optionalSealed(), providerSubjectIndex: row.optionalIndex(),
            providerSubject: row.optionalSealed(), tokens: row.optionalSealed(), profile: row.optionalSealed(),
            attempt: try row.attempt())
        let (spare, generation) = (row.optionalSealed(), row.integer())
        stored.spare = spare.map { SpareTokens(sealed: $0, generation: generation) }
        stored.hasRotated = row.flag()
        return stored
    }

    private static func record(_ row: borrowing SQLStatement) throws(SQLError) -> ConsentRecord {
        let id = ConsentID(try row.identifier())
        let provider = row.provider()
        let issuer = IssuingClient(clientID: row.text(), tokenEndpoint: row.text())
        return ConsentRecord(
            id: id, provider: provider, issuer: issuer, status: try row.word(ConsentStatus.self),
            statusReason: try row.optionalWord(StatusReason.self),
            supersededBy: try row.optionalIdentifier().map(ConsentID.init), requested: row.scopes(),
            granted: row.scopes(), profileStatus: try row.word(ProfileStatus.self),
            profileFetchedAt: row.optionalInstant(), generation: row.integer(), timing: row.timing(),
            isRefreshable: row.flag(), lastRefreshedAt: row.optionalInstant(), refreshFailures: Int(row.integer()),
            client: app(row), notice: notice(row), createdAt: row.instant(), updatedAt: row.instant())
    }

    private static func app(_ row: borrowing SQLStatement) -> ClientApp? {
        let app = ClientApp(
            platform: row.optionalText(), productName: row.optionalText(), sdkVersion: row.optionalText())
        let isNamed = app.platform != nil || app.productName != nil || app.sdkVersion != nil
        return isNamed ? app : nil
    }

    private static func notice(_ row: borrowing SQLStatement) -> NoticeReference? {
        let text = row.optionalText()
        let isAssumed = row.flag()
        return text.map { NoticeReference(text: $0, isAssumed: isAssumed) }
    }
}

extension SQLStatement {
    func timing() -> TokenTiming {
        TokenTiming(
            issuedAt: instant(), accessTokenExpiresAt: instant(), refreshTokenExpiresAt: optionalInstant(),
            dueAt: optionalInstant())
    }

    func attempt() throws(SQLError) -> RefreshAttempt? {
        let id = try optionalIdentifier()
        let phase = try optionalWord(RefreshAttempt.Phase.self)
        let owner = try optionalIdentifier()
        let (sentAt, isRepeated) = (instant(), flag())
        guard let id, let phase, let owner else { return nil }
        var attempt = RefreshAttempt(id: AttemptID(id), phase: phase, owner: InstanceID(owner), sentAt: sentAt)
        attempt.isRepeated = isRepeated
        return attempt
    }
}
