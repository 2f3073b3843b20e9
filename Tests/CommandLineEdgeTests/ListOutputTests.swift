// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Consents
import Testing

@Suite("What lists print")
struct ListOutputTests {
    /// 2026-01-02T03:04:05Z.
    private let moment = Instant(milliseconds: 1_767_323_045_000)

    private func consent(_ last: Int, _ subject: String, _ status: ConsentStatus) throws -> OpenedConsent {
        let id = try #require(ConsentID("cns_019378f0c0de7000a1b2c3d4e5f6071\(last)"))
        let record = ConsentRecord(
            id: id, provider: ProviderKey(name: "paypal", environment: status == .revoked ? nil : "sandbox"),
            issuer: IssuingClient(clientID: "client", tokenEndpoint: "https://provider.example/token"),
            status: status, requested: ScopeSet(["openid"]), granted: ScopeSet(["openid"]),
            profileStatus: .current, profileFetchedAt: nil, generation: 1,
            timing: TokenTiming(
                issuedAt: moment, accessTokenExpiresAt: moment, refreshTokenExpiresAt: nil, dueAt: nil),
            isRefreshable: false, client: nil, notice: nil, createdAt: moment, updatedAt: moment)
        return OpenedConsent(
            record: record, subject: try #require(Subject(subject)), providerSubject: nil,
            profile: Profile(claims: [.email: .text("a@b.example")]))
    }

    @Test("consents are lines under one another, and the count says whether there are more")
    func consents() throws {
        let consents = [try consent(2, "user-42", .reauthorizationRequired), try consent(1, "evil\u{202E}", .revoked)]
        #expect(
            ListOutput.consents(consents, hasMore: true, json: false).text == """
                cns_019378f0c0de7000a1b2c3d4e5f60712  reauthorization_required  paypal (sandbox)  user-42  \
                2026-01-02T03:04:05Z
                cns_019378f0c0de7000a1b2c3d4e5f60711  revoked                   paypal            evil?    \
                2026-01-02T03:04:05Z
                2 consents; there are more: raise --limit

                """)
        #expect(ListOutput.consents([], hasMore: false, json: false).text == "0 consents\n")
        #expect(ListOutput.consents([consents[0]], hasMore: false, json: false).text.hasSuffix("\n1 consent\n"))
    }

    @Test("consents as JSON are the API's records, without attributes")
    func consentsJSON() throws {
        let text = ListOutput.consents([try consent(1, "user-42", .active)], hasMore: false, json: true).text
        #expect(text.hasPrefix("{\n  \"items\": [\n    {\n      \"id\": \"cns_019378f0c0de7000a1b2c3d4e5f60711\",\n"))
        #expect(text.hasSuffix("    }\n  ],\n  \"has_more\": false\n}\n"))
        #expect(!text.contains("a@b.example"))
    }

    private var events: [StoredEvent] {
        let created = EventDraft(
            type: .created, at: moment, caller: "backend", requestID: "r-1",
            data: ["provider": .text("paypal"), "count": .integer(2)])
        let revoked = EventDraft(
            type: .revoked, at: moment.advanced(by: .seconds(1)), caller: "command line", requestID: nil)
        return [
            StoredEvent(sequence: 1, draft: created, mac: [0xAB]),
            StoredEvent(sequence: 2, draft: revoked, mac: [0xCD]),
        ]
    }

    @Test("events are lines: number, time, what, on whose call, and what belongs to it")
    func eventLines() {
        #expect(
            ListOutput.events(events, json: false).text == """
                1  2026-01-02T03:04:05Z  consent.created  by backend (request r-1)  count=2 provider=paypal
                2  2026-01-02T03:04:06Z  consent.revoked  by command line

                """)
    }

    @Test("events as JSON are what the API answers")
    func eventsJSON() {
        #expect(
            ListOutput.events([events[0]], json: true).text == """
                {
                  "items": [
                    {
                      "seq": 1,
                      "type": "consent.created",
                      "at": "2026-01-02T03:04:05Z",
                      "caller": "backend",
                      "request_id": "r-1",
                      "data": {
                        "count": 2,
                        "provider": "paypal"
                      },
                      "mac": "ab"
                    }
                  ],
                  "next_cursor": null
                }

                """)
    }

    @Test("a job says what its pass did")
    func job() {
        #expect(
            JobOutput.pass(pass([]), json: false).text == """
                grants taken over               1
                codes named unknown             2
                refreshes named unknown         3
                refreshed                       200
                profiles fetched                4, 1 failed
                revocations tried               12
                retention: evidence removed     0
                retention: codes deleted        0
                retention: revocations deleted  0
                retention: quarantine emptied   0
                retention: records erased       7
                retention: grants ended         0
                checkpoints made                0

                """)
        let made = ["9-a2e33e811495e20b718b81fa8c0db795"].compactMap { CheckpointName($0) }
        #expect(
            JobOutput.pass(pass(made), json: false).text
                .hasSuffix("\ncheckpoints made                1  9-a2e33e811495e20b718b81fa8c0db795\n"))
        #expect(
            JobOutput.pass(pass(made), json: true).text == """
                {
                  "grants_adopted": 1,
                  "codes_named_unknown": 2,
                  "refreshes_named_unknown": 3,
                  "refreshed": 200,
                  "refreshes_failed": 0,
                  "profiles_fetched": 4,
                  "profiles_failed": 1,
                  "revocations_tried": 12,
                  "retention": {
                    "evidence": 0,
                    "codes": 0,
                    "revocations": 0,
                    "quarantine": 0,
                    "records": 7,
                    "grants": 0
                  },
                  "checkpoints_made": [
                    "9-a2e33e811495e20b718b81fa8c0db795"
                  ],
                  "providers_left": []
                }

                """)
    }

    private func pass(_ checkpoints: [CheckpointName]) -> JobPass {
        var pass = JobPass()
        (pass.grants, pass.codesNamedUnknown, pass.refreshesNamedUnknown) = (1, 2, 3)
        (pass.refreshed, pass.profilesFetched, pass.profilesFailed) = (200, 4, 1)
        pass.revocations = 12
        pass.retention = [.records: 7]
        pass.checkpoints = checkpoints
        return pass
    }

    @Test("a job whose refreshes failed, or that could not ask a provider, is done in part; an interrupted one says so")
    func statuses() {
        #expect(JobOutput.pass(pass([]), json: false).status == .done)
        var failed = pass([])
        failed.refreshesFailed = 3
        #expect(JobOutput.pass(failed, json: false).status == .partlyDone)
        #expect(JobOutput.pass(failed, json: false).text.contains("refreshed                       200, 3 failed\n"))
        var left = pass([])
        left.providersLeft = ["acme", "paypal"]
        #expect(JobOutput.pass(left, json: true).status == .partlyDone)
        #expect(JobOutput.pass(left, json: false).text.hasSuffix("\nproviders left for later        acme, paypal\n"))
        left.early = .interrupted
        #expect(JobOutput.pass(left, json: false).status == .interrupted)
        #expect(
            JobOutput.pass(left, json: false).errors
                == "consent-gateway: interrupted: the rest is the next pass's\n")
        left.early = .storeUnavailable
        #expect(JobOutput.pass(left, json: false).status == .storeOrKeys)
    }

    private let work = WaitingWork(
        grants: 1, codesOnTheWire: 2, refreshesOnTheWire: 0,
        revocations: [ProviderCount(provider: ProviderKey(name: "paypal", environment: "sandbox"), count: 3)],
        refreshes: [
            ProviderCount(provider: ProviderKey(name: "acme", environment: nil), count: 20),
            ProviderCount(provider: ProviderKey(name: "paypal", environment: "sandbox"), count: 4),
        ],
        profiles: [])

    @Test("a job's dry run is a line a kind of work, by provider")
    func dryRun() {
        #expect(
            JobOutput.dryRun(work, [.grants: 2, .codes: 31], json: false)
                == CommandOutput(
                    text: """
                        grants to take over             1
                        codes to name unknown           2
                        refreshes to name unknown       0
                        revocations due                 3: paypal (sandbox) 3
                        refreshes due                   24: acme 20, paypal (sandbox) 4
                        profiles pending                0
                        retention: evidence removed     0
                        retention: codes deleted        31
                        retention: revocations deleted  0
                        retention: quarantine emptied   0
                        retention: records erased       0
                        retention: grants ended         2
                        Nothing was changed or sent.

                        """))
    }

    @Test("a job's dry run as JSON has a list for each kind of work that belongs to providers")
    func dryRunAsJSON() {
        #expect(
            JobOutput.dryRun(work, [:], json: true).text == """
                {
                  "grants_to_adopt": 1,
                  "codes_to_name_unknown": 2,
                  "refreshes_to_name_unknown": 0,
                  "revocations_due": [
                    {
                      "provider": "paypal",
                      "environment": "sandbox",
                      "count": 3
                    }
                  ],
                  "refreshes_due": [
                    {
                      "provider": "acme",
                      "environment": null,
                      "count": 20
                    },
                    {
                      "provider": "paypal",
                      "environment": "sandbox",
                      "count": 4
                    }
                  ],
                  "profiles_pending": [],
                  "retention": {
                    "evidence": 0,
                    "codes": 0,
                    "revocations": 0,
                    "quarantine": 0,
                    "records": 0,
                    "grants": 0
                  }
                }

                """)
    }
}
