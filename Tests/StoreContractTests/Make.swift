// SPDX-License-Identifier: Apache-2.0
import Consents

/// Values for the store's tests, each call another one.
enum Make {
    static let now = Instant(milliseconds: 1_767_323_045_000)
    static let provider = ProviderKey(name: "paypal", environment: "sandbox")
    static let policy = RefreshPolicy(
        kind: .keepFresh, interval: .seconds(86_400), reuse: .forbidden, idleLife: nil,
        defaultLifetime: .seconds(3600))

    static func uuid(at now: Instant = now) -> UUIDv7 {
        var generator = SystemRandomNumberGenerator()
        return UUIDv7(milliseconds: UInt64(now.milliseconds), random: (generator.next(), generator.next()))
    }
    static func instance() -> InstanceID { InstanceID(uuid()) }
    static func attempt() -> AttemptID { AttemptID(uuid()) }
    static func index() -> BlindIndex { BlindIndex(uuid().bytes + uuid().bytes) }
    static func sealed(_ text: String) -> SealedBytes { SealedBytes(Array(text.utf8)) }

    static func reservation(
        _ digest: BlindIndex = index(), subject: BlindIndex = index(), attempt: AttemptID = attempt(),
        lease: Duration = .seconds(120), at now: Instant = now, expiresAt: Instant? = nil
    ) -> CodeReservation {
        CodeReservation(
            digest: digest, provider: provider, subjectIndex: subject, attempt: attempt, at: now, lease: lease,
            expiresAt: expiresAt)
    }

    static func timing(_ issuedAt: Instant = now) -> TokenTiming {
        TokenTiming(
            issuedAt: issuedAt, accessTokenExpiresAt: issuedAt.advanced(by: .seconds(900)),
            refreshTokenExpiresAt: issuedAt.advanced(by: .seconds(1_000_000)),
            dueAt: issuedAt.advanced(by: .seconds(600)))
    }

    static func consent(
        subject: BlindIndex = index(), providerSubject: BlindIndex? = index(), at now: Instant = now,
        provider: ProviderKey = provider
    ) -> StoredConsent {
        let record = ConsentRecord(
            id: ConsentID(uuid(at: now)), provider: provider,
            issuer: IssuingClient(clientID: "client", tokenEndpoint: "https://provider.example/token"),
            requested: ScopeSet(["openid", "email"]), granted: ScopeSet(["openid"]),
            profileStatus: providerSubject == nil ? .pending : .current,
            profileFetchedAt: providerSubject == nil ? nil : now, generation: 1, timing: timing(now),
            isRefreshable: true, client: ClientApp(platform: "iOS", productName: nil, sdkVersion: "2.18.1"),
            notice: NoticeReference(text: "signup@3", isAssumed: true), createdAt: now, updatedAt: now)
        return StoredConsent(
            record: record, subjectIndex: subject, key: sealed("key"), subject: sealed("subject"),
            providerSubjectIndex: providerSubject, providerSubject: providerSubject.map { _ in sealed("sub") },
            tokens: sealed("tokens 1"), profile: providerSubject.map { _ in sealed("profile 1") }, attempt: nil)
    }

    static func event(_ type: EventType = .created, at now: Instant = now, data: EventData = [:])
        -> EventDraft
    {
        EventDraft(type: type, at: now, caller: "backend", requestID: "r-1", data: data, personal: sealed("salts"))
    }

    static func renewal(_ id: ConsentID, code: BlindIndex, expecting generation: Int64) -> ConsentRenewal {
        ConsentRenewal(
            id: id, code: code, expectedGeneration: generation, tokens: sealed("tokens of a renewal"),
            timing: timing(now.advanced(by: .seconds(60))), isRefreshable: true, requested: ScopeSet(["openid"]),
            granted: ScopeSet(["openid"]), profile: sealed("profile of a renewal"),
            issuer: IssuingClient(clientID: "client 2", tokenEndpoint: "https://provider.example/token"),
            client: nil, notice: nil, at: now.advanced(by: .seconds(60)), events: [event(.renewed)])
    }

    static func claim(
        _ id: ConsentID, _ attempt: AttemptID, generation: Int64 = 1, lease: Duration = .seconds(120),
        judged: AttemptID? = nil, at now: Instant = now
    ) -> RefreshClaim {
        RefreshClaim(id: id, generation: generation, attempt: attempt, judged: judged, at: now, lease: lease)
    }

    static func tokens(_ id: ConsentID, _ attempt: AttemptID, expecting generation: Int64 = 1) -> TokenWrite {
        TokenWrite(
            id: id, attempt: attempt, expectedGeneration: generation, tokens: sealed("tokens \(generation + 1)"),
            timing: timing(now.advanced(by: .seconds(600))), isRefreshable: true, granted: ScopeSet(["openid"]),
            at: now.advanced(by: .seconds(601)), events: [event(.refreshed)])
    }

    static func settlement(
        _ id: ConsentID, _ attempt: AttemptID, _ change: RefreshSettlement.Change, generation: Int64 = 1
    ) -> RefreshSettlement {
        RefreshSettlement(
            id: id, generation: generation, attempt: attempt, change: change, at: now.advanced(by: .seconds(601)),
            events: change == .released ? [] : [event(.refreshFailed)])
    }

    static func profile(
        _ id: ConsentID, providerSubject: BlindIndex?, status: ProfileStatus = .current
    ) -> ProfileWrite {
        ProfileWrite(
            id: id, status: status, profile: sealed("profile 2"), fetchedAt: now.advanced(by: .seconds(5)),
            providerSubject: providerSubject.map { ($0, sealed("sub 2")) }, at: now.advanced(by: .seconds(5)),
            events: [event(.profileFetched)], superseding: event(.superseded))
    }

    static func delivery(
        of consent: ConsentID?, _ kind: TokenKind = .refreshToken, id: UUIDv7 = uuid(),
        reason: RevocationReason = .withdrawal
    ) -> RevocationDraft {
        RevocationDraft(
            id: id, provider: provider, clientID: "client", consent: consent, kind: kind, reason: reason,
            token: sealed("token"))
    }

    /// Both tokens of a consent, the refresh token first.
    static func deliveries(of consent: ConsentID, at now: Instant = now) -> [RevocationDraft] {
        let ids = [uuid(at: now), uuid(at: now)].sorted()
        return [delivery(of: consent, .refreshToken, id: ids[0]), delivery(of: consent, .accessToken, id: ids[1])]
    }

    static func withdrawal(
        _ id: ConsentID, expecting generation: Int64 = 1, reason: StatusReason = .user,
        _ revocations: [RevocationDraft]
    ) -> Withdrawal {
        let at = now.advanced(by: .seconds(700))
        return Withdrawal(
            id: id, expectedGeneration: generation, reason: reason, at: at, event: event(.revoked, at: at),
            revocations: revocations)
    }

    static func settlement(
        _ task: RevocationTask, _ outcome: RevocationSettlement.Outcome, at now: Instant = now
    ) -> RevocationSettlement {
        let isOver = if case .again = outcome { false } else { true }
        return RevocationSettlement(
            id: task.draft.id, outcome: outcome, at: now,
            event: isOver ? event(.tokenRevocation, at: now, data: ["token": .text(task.draft.kind.rawValue)]) : nil)
    }
}

extension ConsentStore {
    /// A consent as an exchange makes one: reserved, kept, created.
    func keepConsent(_ consent: StoredConsent = Make.consent()) async throws -> (id: ConsentID, code: BlindIndex) {
        try await keepConsent(consent, Make.event())
    }

    func keepConsent(_ consent: StoredConsent, _ event: EventDraft) async throws -> (id: ConsentID, code: BlindIndex) {
        let code = try await keepGrant(subject: consent.subjectIndex)
        let answer = try await createConsent(consent, of: code, events: [event])
        guard answer == .created else { throw Unexpected(answer) }
        return (consent.record.id, code)
    }

    /// A code whose grant is kept.
    func keepGrant(subject: BlindIndex = Make.index()) async throws -> BlindIndex {
        let reservation = Make.reservation(subject: subject)
        guard case .reserved = try await reserveCode(reservation) else { throw Unexpected("not reserved") }
        let isKept = try await keepGrant(
            reservation.digest, attempt: reservation.attempt, grant: Make.sealed("grant"), at: Make.now)
        guard isKept else { throw Unexpected("not kept") }
        return reservation.digest
    }
}

struct Unexpected: Error {
    let found: String
    init(_ found: some Any) { self.found = "\(found)" }
}
