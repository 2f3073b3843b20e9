// SPDX-License-Identifier: Apache-2.0
package import Consents

extension SQLStore {
    package func reserveCode(_ reservation: CodeReservation) async throws(StoreFailure) -> ReservationAnswer {
        try await writer.write(.starts) { [rules] connection throws(SQLError) in
            try rules.reserve(reservation, in: connection)
        }
    }

    package func releaseCode(_ digest: BlindIndex, attempt: AttemptID, at now: Instant) async throws(StoreFailure) {
        try await writer.write(.finishes) { connection throws(SQLError) in
            try connection.run(CodeQueries.release, now, digest, attempt)
        }
    }

    package func endCode(
        _ digest: BlindIndex, attempt: AttemptID, as verdict: CodeVerdict, statement: SealedBytes?, at now: Instant
    ) async throws(StoreFailure) {
        try await writer.write(.finishes) { [rules] connection throws(SQLError) in
            // The tokens of a wrong ID token stay sealed for a day; another end has none.
            let keepsGrant = verdict == .idTokenInvalid
            let count = try connection.rows(
                changedBy: CodeQueries.end, verdict.rawValue, statement, keepsGrant, now, digest, attempt)
            // An answer that comes late may still make a consent of one whose end is unknown.
            if count > 0, verdict != .exchangeUnknown { try rules.dropClaims(on: digest, in: connection) }
        }
    }

    package func refuseGrant(_ digest: BlindIndex, as verdict: CodeVerdict, statement: SealedBytes?, at now: Instant)
        async throws(StoreFailure) -> Bool
    {
        try await writer.write(.finishes) { [rules] connection throws(SQLError) in
            let count = try connection.rows(
                changedBy: CodeQueries.refuse, verdict.rawValue, statement, now, digest)
            if count > 0 {
                try rules.dropClaims(on: digest, in: connection)
                return true
            }
            // Asked for again after a commit of unknown fate.
            guard let row = try CodeRow(digest, in: connection) else { return false }
            return row.state == .ended && row.verdict == verdict
        }
    }

    package func keepGrant(_ digest: BlindIndex, attempt: AttemptID, grant: SealedBytes, at now: Instant)
        async throws(StoreFailure) -> Bool
    {
        try await writer.write(.finishes) { [rules] connection throws(SQLError) in
            try rules.keep(grant, of: digest, attempt, at: now, in: connection)
        }
    }
}

/// A code's row as it is found.
struct CodeRow {
    enum State: String { case unspent, sent, kept, consent, ended }

    var state: State
    var subjectIndex: BlindIndex
    var attempt: AttemptID
    var lease: Lease
    /// How long a lease on it is, milliseconds.
    var leaseLength: Int64
    var grant: SealedBytes?
    var verdict: CodeVerdict?
    var statement: SealedBytes?
    var consent: ConsentID?
    var expiresAt: Instant?

    init?(_ digest: BlindIndex, in connection: borrowing SQLConnection) throws(SQLError) {
        let row = try connection.prepare(CodeQueries.select)
        try row.bind(digest)
        guard try row.step() else { return nil }
        state = try row.word(State.self)
        subjectIndex = BlindIndex(row.blob())
        attempt = AttemptID(try row.identifier())
        lease = Lease(owner: InstanceID(try row.identifier()), until: row.integer(), boot: row.text())
        leaseLength = row.integer()
        grant = row.optionalSealed()
        verdict = try row.optionalWord(CodeVerdict.self)
        statement = row.optionalSealed()
        consent = try row.optionalIdentifier().map(ConsentID.init)
        expiresAt = row.optionalInstant()
    }

    var isUnsettled: Bool { state == .sent || state == .kept }

    /// Whether the row no longer counts at that time.
    func isOver(at now: Instant) -> Bool { !isUnsettled && expiresAt.map { $0 <= now } ?? false }

    /// Whether a success may still be written: nobody knows of another end.
    var takesGrant: Bool { state == .sent || (state == .ended && verdict == .exchangeUnknown) }
}

extension WritingRules {
    fileprivate func reserve(_ wanted: CodeReservation, in connection: borrowing SQLConnection)
        throws(SQLError) -> ReservationAnswer
    {
        // Nearly always the provider's calls have shown nothing.
        if let health = try health(of: wanted.provider, in: connection), !health.isClean {
            return try reserve(wanted, watching: health, in: connection)
        }
        return try reserveFreely(wanted, in: connection)
    }

    /// A code that would have to be sent holds against the provider's state; what became of one is told all the same.
    private func reserve(
        _ wanted: CodeReservation, watching health: ProviderHealth, in connection: borrowing SQLConnection
    ) throws(SQLError) -> ReservationAnswer {
        if let row = try CodeRow(wanted.digest, in: connection), !row.isOver(at: wanted.at),
            row.state != .unspent || row.subjectIndex != wanted.subjectIndex
        {
            return try reserveFreely(wanted, in: connection)
        }
        let permit = try permit(
            .exchange, wanted.attempt, lease: wanted.lease, at: wanted.provider, health, now: wanted.at, in: connection)
        if case .blocked(let until, let reason) = permit { return .blocked(until: until, reason) }
        let answer = try reserveFreely(wanted, in: connection)
        if case .reserved = answer { return .reservedOnWatch }
        // Another was first between the two: nothing is sent, so the trial is somebody else's.
        if permit == .trial {
            let note = HealthNote(provider: wanted.provider, event: .nothing, spread: 0)
            try take(note, of: wanted.attempt, at: wanted.at, in: connection)
        }
        return answer
    }

    private func reserveFreely(_ wanted: CodeReservation, in connection: borrowing SQLConnection)
        throws(SQLError) -> ReservationAnswer
    {
        // Nearly always it is new: the row is read only where there is one.
        if try take(wanted, by: CodeQueries.reserve, in: connection) { return .reserved }
        guard let row = try CodeRow(wanted.digest, in: connection) else {
            // Let go between the two: whoever is first takes it.
            return try take(wanted, by: CodeQueries.reserve, in: connection) ? .reserved : .underWay
        }
        if row.isOver(at: wanted.at) { return try retake(wanted, in: connection) }
        guard row.subjectIndex == wanted.subjectIndex else { return .otherSubject(row.consent) }
        switch row.state {
        case .unspent: return try retake(wanted, in: connection)
        // A commit of unknown fate is asked for again by the same attempt.
        case .sent where row.attempt == wanted.attempt: return .reserved
        // Whoever asks leads the only flight of the code in this instance: no other one is settling the grant.
        case .kept where row.lease.owner == leases.instance:
            guard let grant = row.grant else { throw .corrupt }
            return .abandonedGrant(grant)
        case .sent, .kept:
            return try leases.stands(row.lease, in: connection) ? .underWay : adopt(row, wanted, in: connection)
        case .consent:
            guard let consent = row.consent else { throw .corrupt }
            return .consent(consent)
        case .ended:
            guard let verdict = row.verdict else { throw .corrupt }
            return .ended(verdict, statement: row.statement)
        }
    }

    private func retake(_ wanted: CodeReservation, in connection: borrowing SQLConnection) throws(SQLError)
        -> ReservationAnswer
    {
        _ = try take(wanted, by: CodeQueries.reserveAgain, in: connection)
        return .reserved
    }

    private func take(
        _ wanted: CodeReservation, by query: SQLQuery, in connection: borrowing SQLConnection
    ) throws(SQLError) -> Bool {
        try leases.mustBeProven()
        let lease = try leases.lease(for: wanted.lease, in: connection)
        return try connection.rows(
            changedBy: query, wanted.digest, wanted.provider.name, wanted.provider.environmentColumn,
            wanted.subjectIndex, wanted.attempt, lease.owner, lease.until, lease.boot,
            LeaseClock.milliseconds(of: wanted.lease), wanted.at, wanted.at, wanted.expiresAt) > 0
    }

    /// Decides what a dead owner left: a code that was sent has an unknown end, a kept grant becomes ours.
    private func adopt(_ row: CodeRow, _ wanted: CodeReservation, in connection: borrowing SQLConnection)
        throws(SQLError) -> ReservationAnswer
    {
        guard row.state == .kept, let grant = row.grant else {
            try connection.run(CodeQueries.nameUnknown, wanted.at, wanted.digest)
            return .ended(.exchangeUnknown, statement: nil)
        }
        let lease = try leases.lease(for: wanted.lease, in: connection)
        try connection.run(
            CodeQueries.adopt, wanted.attempt, lease.owner, lease.until, lease.boot, wanted.at, wanted.digest)
        return .abandonedGrant(grant)
    }

    fileprivate func keep(
        _ grant: SealedBytes, of digest: BlindIndex, _ attempt: AttemptID, at now: Instant,
        in connection: borrowing SQLConnection
    ) throws(SQLError) -> Bool {
        // The row adds the length of its lease.
        let lease = try leases.lease(for: .zero, in: connection)
        let isKept = try connection.rows(
            changedBy: CodeQueries.keep, grant, attempt, lease.owner, lease.until, lease.boot, now, digest)
        if isKept > 0 { return true }
        guard let row = try CodeRow(digest, in: connection) else { return false }
        guard row.takesGrant else {
            return row.attempt == attempt && (row.state == .kept || row.state == .consent)
        }
        try connection.run(
            CodeQueries.keepLate, grant, attempt, lease.owner, lease.until, lease.boot, now, now, digest)
        return true
    }

    /// Points a code to the consent that its grant became, and lets the grant go.
    /// - Returns: the consent that it points to already; then nothing is changed.
    func settle(_ code: BlindIndex, as consent: ConsentID, at now: Instant, in connection: borrowing SQLConnection)
        throws(SQLError) -> ConsentID?
    {
        if try connection.rows(changedBy: CodeQueries.settle, consent, now, code) > 0 { return nil }
        return try self.consent(of: code, in: connection)
    }

    func consent(of code: BlindIndex, in connection: borrowing SQLConnection) throws(SQLError) -> ConsentID? {
        let row = try connection.prepare(CodeQueries.consent)
        try row.bind(code)
        return try row.step() ? try row.optionalIdentifier().map(ConsentID.init) : nil
    }
}

enum CodeQueries {
    static let select = SQLQuery(
        locking:
            """
            SELECT state, subject_index, attempt, owner, lease_until, lease_boot, lease_length, grant_sealed, verdict,
                statement_sealed, consent_id, expires_at
            FROM code_reservations WHERE digest = ?
            """)
    static let consent = SQLQuery(locking: "SELECT consent_id FROM code_reservations WHERE digest = ?")
    private static let sent = """
        INTO code_reservations (digest, provider, environment, subject_index, state, attempt, owner, lease_until,
            lease_boot, lease_length, unsettled_since, updated_at, expires_at)
        VALUES (?, ?, ?, ?, 'sent', ?, ?, ?, ?, ?, ?, ?, ?)
        """
    static let reserve = SQLQuery("INSERT \(sent) ON CONFLICT (digest) DO NOTHING")
    /// As if the row were not there; it is held.
    static let reserveAgain = SQLQuery(
        """
        INSERT \(sent) ON CONFLICT (digest) DO UPDATE SET provider = excluded.provider,
            environment = excluded.environment, subject_index = excluded.subject_index, state = excluded.state,
            attempt = excluded.attempt, owner = excluded.owner, lease_until = excluded.lease_until,
            lease_boot = excluded.lease_boot, lease_length = excluded.lease_length, grant_sealed = NULL,
            verdict = NULL, statement_sealed = NULL, consent_id = NULL, unsettled_since = excluded.unsettled_since,
            updated_at = excluded.updated_at, expires_at = excluded.expires_at
        """)
    static let release = SQLQuery(
        """
        UPDATE code_reservations SET state = 'unspent', verdict = NULL, statement_sealed = NULL,
            unsettled_since = NULL, updated_at = ?
        WHERE digest = ? AND attempt = ? AND (state = 'sent' OR verdict = 'exchange_unknown')
        """)
    static let end = SQLQuery(
        """
        UPDATE code_reservations SET state = 'ended', verdict = ?, statement_sealed = ?, unsettled_since = NULL,
            grant_sealed = CASE WHEN ? = 1 THEN grant_sealed END, updated_at = ?
        WHERE digest = ? AND attempt = ? AND (state IN ('sent', 'kept') OR verdict = 'exchange_unknown')
        """)
    /// The grant stays sealed beside it.
    static let refuse = SQLQuery(
        """
        UPDATE code_reservations SET state = 'ended', verdict = ?, statement_sealed = ?, unsettled_since = NULL,
            updated_at = ?
        WHERE digest = ? AND state = 'kept'
        """)
    static let nameUnknown = SQLQuery(
        """
        UPDATE code_reservations SET state = 'ended', verdict = 'exchange_unknown', unsettled_since = NULL,
            updated_at = ?
        WHERE digest = ? AND state = 'sent'
        """)
    static let adopt = SQLQuery(
        """
        UPDATE code_reservations SET attempt = ?, owner = ?, lease_until = ?, lease_boot = ?, updated_at = ?
        WHERE digest = ? AND state = 'kept'
        """)
    private static let kept = """
        state = 'kept', grant_sealed = ?, attempt = ?, owner = ?, lease_until = ? + lease_length, lease_boot = ?,
            updated_at = ?
        """
    /// Names no column of an index.
    static let keep = SQLQuery("UPDATE code_reservations SET \(kept) WHERE digest = ? AND state = 'sent'")
    /// For one whose end was unknown.
    static let keepLate = SQLQuery(
        """
        UPDATE code_reservations SET \(kept), unsettled_since = ?, verdict = NULL, statement_sealed = NULL
        WHERE digest = ?
        """)
    static let settle = SQLQuery(
        """
        UPDATE code_reservations SET state = 'consent', consent_id = ?, grant_sealed = NULL, verdict = NULL,
            statement_sealed = NULL, unsettled_since = NULL, updated_at = ?
        WHERE digest = ? AND consent_id IS NULL
        """)
}
