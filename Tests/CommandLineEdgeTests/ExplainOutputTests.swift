// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Consents
import Testing

@Suite("What explain prints")
struct ExplainOutputTests {
    /// 2026-01-02T03:04:05Z.
    private static let issued = Instant(milliseconds: 1_767_323_045_000)
    private static let now = issued.advanced(by: .seconds(7200))
    private static let policy = RefreshPolicy(
        kind: .keepAlive, interval: .seconds(30 * 86_400), reuse: .forbidden, idleLife: .seconds(180 * 86_400),
        defaultLifetime: .seconds(3600))

    private static func event(_ type: EventType, after seconds: Int64, _ data: EventData = [:])
        -> StoredEvent
    {
        StoredEvent(
            sequence: 1,
            draft: EventDraft(
                type: type, at: issued.advanced(by: .seconds(seconds)), caller: "backend", requestID: nil, data: data),
            mac: [])
    }

    private static func account(
        _ status: ConsentStatus = .active, reason: StatusReason? = nil, failures: Int = 0,
        attempt: RefreshAttempt? = nil, standing: GrantAccount.Standing = .configured(policy),
        events: [StoredEvent] = [event(.created, after: 0)], health: ProviderHealth? = nil,
        life: Duration = .seconds(3600)
    ) throws -> GrantAccount {
        let record = ConsentRecord(
            id: try #require(ConsentID("cns_019378f0c0de7000a1b2c3d4e5f60718")),
            provider: ProviderKey(name: "paypal", environment: "sandbox"),
            issuer: IssuingClient(clientID: "old", tokenEndpoint: "https://provider.example/token"), status: status,
            statusReason: reason, requested: ScopeSet(["openid"]), granted: ScopeSet(["openid"]),
            profileStatus: .current, profileFetchedAt: nil, generation: 1,
            timing: TokenTiming(
                issuedAt: issued, accessTokenExpiresAt: issued.advanced(by: life), refreshTokenExpiresAt: nil,
                dueAt: status.isGrantHeld ? issued.advanced(by: .seconds(86_400)) : nil),
            isRefreshable: true, refreshFailures: failures, client: nil, notice: nil, createdAt: issued,
            updatedAt: issued)
        return GrantAccount(
            record: record, attempt: attempt, standing: standing, events: events, health: health, now: now)
    }

    private static func attempt(_ phase: RefreshAttempt.Phase) -> RefreshAttempt {
        let id = UUIDv7(milliseconds: 1, random: (1, 1))
        return RefreshAttempt(
            id: AttemptID(id), phase: phase, owner: InstanceID(id), sentAt: issued.advanced(by: .seconds(7000)))
    }

    @Test("a grant that fails: what it is, what came last and whom it blames, what comes next")
    func failing() throws {
        let account = try Self.account(
            .failing, failures: 2,
            events: [
                Self.event(.created, after: 0),
                Self.event(.refreshed, after: 60, ["oddities": .text("token_type_missing")]),
                Self.event(
                    .refreshFailed, after: 7000,
                    ["failure": .text("provider_unavailable"), "provider_status": .integer(503)]),
            ])
        #expect(
            ExplainOutput.account(account, json: false).text == """
                cns_019378f0c0de7000a1b2c3d4e5f60718  paypal (sandbox)  failing

                What it is
                  A grant of paypal (sandbox), given at 2026-01-02T03:04:05Z. Its tokens were issued at \
                2026-01-02T03:04:05Z, as number 1.
                  The access token lapsed at 2026-01-02T04:04:05Z.
                  Its refresh token ends at 2026-07-01T03:04:05Z if it is not used, by idle_life.

                What came last
                  2026-01-02T05:00:45Z: the provider took no requests; it said 503. To blame: the provider. It was \
                failure 2 in a row.

                What stands in its way
                  Nothing.

                What comes next
                  It is due at 2026-01-03T03:04:05Z: the next try after 2 failures in a row.

                What you can do
                  It is tried again by itself; `refresh cns_019378f0c0de7000a1b2c3d4e5f60718` tries now.

                Timeline
                  2026-01-02T03:04:05Z  consent.created         the person consented
                  2026-01-02T03:05:05Z  consent.refreshed       it was refreshed; odd in the answer: token_type_missing
                  2026-01-02T05:00:45Z  consent.refresh_failed  the provider took no requests; it said 503

                """)
    }

    @Test("a grant that is gone says who ended it, and how to try once more")
    func gone() throws {
        let account = try Self.account(
            .reauthorizationRequired, reason: .providerRejected,
            events: [
                Self.event(
                    .reauthorizationRequired, after: 60,
                    ["reason": .text("provider_rejected"), "provider_error": .text("invalid_grant")])
            ])
        let text = ExplainOutput.account(account, json: false).text
        #expect(text.contains("  reauthorization_required (provider_rejected)\n"))
        #expect(
            text.contains("the grant is gone, provider_rejected; it said invalid_grant. To blame: the grant.\n"))
        #expect(text.contains("`refresh cns_019378f0c0de7000a1b2c3d4e5f60718 --force` sends the kept tokens once more"))
        #expect(!text.contains("What comes next"))
    }

    /// A grant's account, and the kind and words of what stands in its way.
    private static func obstacles() throws -> [(GrantAccount, String, String)] {
        let attempt = Self.attempt(.sent)
        var paused = ProviderHealth()
        paused.on(
            .credentialsRefused(.grant(try account().record.id), isByName: true), of: attempt.id, at: now, spread: 0)
        var gated = ProviderHealth()
        gated.on(.throttled(retryAfter: .seconds(120)), of: attempt.id, at: now, spread: 0)
        return [
            (try account(standing: .absent), "provider_absent", "Configure the provider again"),
            (try account(standing: .otherClient), "client_changed", "issued to the client old at https://provider"),
            (try account(attempt: attempt), "under_way", "went out at 2026-01-02T05:00:45Z"),
            (
                try account(attempt: Self.attempt(.unknown), life: .seconds(86_400)), "in_doubt",
                "Before 2026-01-03T03:04:05Z the provider"
            ),
            (try account(.revoked, reason: .user), "ended", "The consent is revoked and stays so."),
            (try account(health: paused), "pause", "Mend the client's credentials"),
            (try account(health: gated), "gate", "until 2026-01-02T05:06:05Z at least."),
        ]
    }

    @Test("each obstacle is named, with what can be done")
    func obstacle() throws {
        for (account, kind, words) in try Self.obstacles() {
            let text = ExplainOutput.account(account, json: false).text
            #expect(text.contains(words), "\(text)")
            #expect(!text.contains("  Nothing.\n"))
            #expect(ExplainOutput.account(account, json: true).text.contains("\"kind\": \"\(kind)\""))
        }
    }

    @Test("one in doubt is due when it may be sent again, and not before")
    func dueAfterDoubt() throws {
        let account = try Self.account(attempt: Self.attempt(.unknown), life: .seconds(90_000))
        let due = try #require(account.record.timing.dueAt)
        let lapse = account.record.timing.accessTokenExpiresAt
        #expect(due < lapse && account.next?.at == lapse)
        #expect(ExplainOutput.account(account, json: false).text.contains("It is due at 2026-01-03T04:04:05Z"))
    }

    @Test("as JSON it has the facts beside the sentences")
    func json() throws {
        let text = ExplainOutput.account(try Self.account(), json: true).text
        for part in [
            #""status": "active","#, #""next_refresh_at": "2026-01-03T03:04:05Z","#,
            #""refresh_token_ends_at": "2026-07-01T03:04:05Z","#, #""obstacles": [],"#,
            #""next_refresh_reason": "#, #""type": "consent.created","#,
        ] { #expect(text.contains(part), "\(part) in \(text)") }
    }
}
