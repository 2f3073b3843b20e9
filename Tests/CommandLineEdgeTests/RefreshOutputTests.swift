// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Consents
import Testing

@Suite("What refresh prints")
struct RefreshOutputTests {
    private let ids = (1...6).compactMap { ConsentID("cns_019378f0c0de7000a1b2c3d4e5f6071\($0)") }
    /// 2026-01-02T03:04:05Z.
    private let moment = Instant(milliseconds: 1_767_323_045_000)

    private func results(_ outcomes: RefreshResult.Outcome...) -> [RefreshResult] {
        zip(ids, outcomes).map { RefreshResult(id: $0, outcome: $1) }
    }

    @Test("each consent has its line, and the summary counts by outcome")
    func text() {
        let statement = ProviderStatement(
            status: 503, error: "busy", errorDescription: "come\nback", correlationID: "c1")
        let output = RefreshOutput.summary(
            results(
                .refreshed(nextAt: moment), .failed(.reauthorizationRequired(.ambiguousRotation)),
                .refreshed(nextAt: nil), .failed(.providerUnavailable(retryAfter: .milliseconds(500), statement)),
                .refreshedElsewhere(nextAt: moment), .failed(.notFound)),
            json: false)
        #expect(
            output.text == """
                cns_019378f0c0de7000a1b2c3d4e5f60711  refreshed, next 2026-01-02T03:04:05Z
                cns_019378f0c0de7000a1b2c3d4e5f60712  reauthorization_required: the grant is gone \
                (ambiguous_rotation); the person must consent again
                cns_019378f0c0de7000a1b2c3d4e5f60713  refreshed
                cns_019378f0c0de7000a1b2c3d4e5f60714  provider_unavailable: the provider takes no requests now; \
                the grant is as it was, again in 1 s; it said 503 busy: come?back (correlation c1)
                cns_019378f0c0de7000a1b2c3d4e5f60715  refreshed_elsewhere, next 2026-01-02T03:04:05Z
                cns_019378f0c0de7000a1b2c3d4e5f60716  not_found: there is no such consent
                6 consents: 2 refreshed, 1 reauthorization_required, 1 provider_unavailable, 1 refreshed_elsewhere, \
                1 not_found

                """)
        #expect(output.status == .partlyDone)
    }

    @Test("as JSON it has an item a consent and the counts")
    func json() {
        let statement = ProviderStatement(status: 401, error: "invalid_client", correlationID: "c1")
        let output = RefreshOutput.summary(
            results(.refreshed(nextAt: moment), .failed(.providerMisconfigured(statement))), json: true)
        #expect(
            output.text == """
                {
                  "items": [
                    {
                      "id": "cns_019378f0c0de7000a1b2c3d4e5f60711",
                      "outcome": "refreshed",
                      "next_refresh_at": "2026-01-02T03:04:05Z"
                    },
                    {
                      "id": "cns_019378f0c0de7000a1b2c3d4e5f60712",
                      "outcome": "provider_misconfigured",
                      "detail": "the provider refuses the gateway's credentials or request",
                      "provider_error": "invalid_client",
                      "provider_correlation_id": "c1"
                    }
                  ],
                  "summary": {
                    "refreshed": 1,
                    "provider_misconfigured": 1
                  }
                }

                """)
    }

    @Test("a refresh that another process did is done")
    func elsewhere() {
        let output = RefreshOutput.summary(results(.refreshedElsewhere(nextAt: nil)), json: false)
        #expect(
            output.text == """
                cns_019378f0c0de7000a1b2c3d4e5f60711  refreshed_elsewhere
                1 consent: 1 refreshed_elsewhere

                """)
        #expect(output.status == .done)
    }

    @Test("a store that is out of reach for all of them is status 4, for some of them 1")
    func storeGone() {
        let all = RefreshOutput.summary(results(.failed(.storeUnavailable), .failed(.storeUnavailable)), json: false)
        #expect(all.status == .storeOrKeys)
        let some = RefreshOutput.summary(results(.failed(.storeUnavailable), .refreshed(nextAt: nil)), json: false)
        #expect(some.status == .partlyDone)
    }

    @Test("what was not begun before an interruption is named, and the status is 130")
    func interrupted() {
        let outcomes = results(.refreshed(nextAt: nil), .notBegun, .failed(.notFound))
        let output = RefreshOutput.summary(outcomes, json: false)
        #expect(
            output.text == """
                cns_019378f0c0de7000a1b2c3d4e5f60711  refreshed
                cns_019378f0c0de7000a1b2c3d4e5f60712  not_begun: interrupted before its turn; nothing was sent
                cns_019378f0c0de7000a1b2c3d4e5f60713  not_found: there is no such consent
                3 consents: 1 refreshed, 1 not_begun, 1 not_found

                """)
        #expect(output.status == .interrupted)
        #expect(RefreshOutput.summary(outcomes, json: true).status == .interrupted)
    }
}
