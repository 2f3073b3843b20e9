// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Consents
import Testing

@Suite("What a sweep shows")
struct SweepOutputTests {
    /// 2026-01-02T03:04:05Z.
    private let moment = Instant(milliseconds: 1_767_323_045_000)

    private func progress(done: Int, failed: Int = 0, known: Int, isWhole: Bool = false, after elapsed: Duration)
        -> RefreshProgress
    {
        var progress = RefreshProgress()
        progress.done = done
        progress.failed = failed
        progress.known = known
        progress.isKnownWhole = isWhole
        progress.elapsed = elapsed
        return progress
    }

    @Test("the progress is a bar, what is done of what is known, the rate and the failures")
    func line() {
        #expect(RefreshProgress().line == "[------------------------] 0/0+  0.0/s  0 failed")
        #expect(
            progress(done: 15, failed: 1, known: 30, after: .seconds(2)).line
                == "[############------------] 15/30+  7.5/s  1 failed")
        #expect(
            progress(done: 30, known: 30, isWhole: true, after: .milliseconds(70)).line
                == "[########################] 30/30  428.5/s  0 failed")
    }

    @Test("no progress is wider than a terminal, and all of it is ASCII")
    func width() {
        let widest = progress(
            done: 1_000_000, failed: 1_000_000, known: 1_000_000, after: .milliseconds(100_000))
        #expect(widest.line.utf8.count < 80)
        #expect(widest.overwriting(0).utf8.allSatisfy { $0 < 0x7F })
    }

    @Test("a line is written over the one before, and taken away, with blanks")
    func overwriting() {
        let line = progress(done: 1, known: 2, isWhole: true, after: .seconds(1))
        #expect(line.overwriting(0) == "\r[############------------] 1/2  1.0/s  0 failed")
        #expect(line.overwriting(50) == "\r[############------------] 1/2  1.0/s  0 failed   ")
        #expect(line.overwriting(10) == line.overwriting(0))
        #expect(RefreshProgress.erasing(4) == "\r    \r")
        #expect(RefreshProgress.erasing(0) == "")
    }

    private func record(_ status: ConsentStatus, dueAt: Instant?) throws -> ConsentRecord {
        ConsentRecord(
            id: try #require(ConsentID("cns_019378f0c0de7000a1b2c3d4e5f60718")),
            provider: ProviderKey(name: "paypal", environment: "sandbox"),
            issuer: IssuingClient(clientID: "client", tokenEndpoint: "https://provider.example/token"), status: status,
            requested: ScopeSet(["openid"]), granted: ScopeSet(["openid"]), profileStatus: .current,
            profileFetchedAt: moment, generation: 1,
            timing: TokenTiming(
                issuedAt: moment, accessTokenExpiresAt: moment, refreshTokenExpiresAt: nil, dueAt: dueAt),
            isRefreshable: true, client: nil, notice: nil, createdAt: moment, updatedAt: moment)
    }

    @Test("a dry run is a line a consent, and says that nothing was sent")
    func dryRun() throws {
        let records = [try record(.active, dueAt: moment), try record(.failing, dueAt: nil)]
        #expect(
            SweepOutput.dryRun(records, json: false).text == """
                cns_019378f0c0de7000a1b2c3d4e5f60718  active   paypal (sandbox)  next 2026-01-02T03:04:05Z
                cns_019378f0c0de7000a1b2c3d4e5f60718  failing  paypal (sandbox)  on demand
                2 consents would be refreshed; nothing was sent

                """)
        #expect(
            SweepOutput.dryRun([try record(.active, dueAt: moment)], json: true).text == """
                {
                  "items": [
                    {
                      "id": "cns_019378f0c0de7000a1b2c3d4e5f60718",
                      "status": "active",
                      "provider": "paypal",
                      "environment": "sandbox",
                      "next_refresh_at": "2026-01-02T03:04:05Z"
                    }
                  ],
                  "would_refresh": 1
                }

                """)
    }

    @Test("nothing to do is done")
    func nothing() {
        let output = SweepOutput.summary([], early: nil, json: false)
        #expect(output == CommandOutput(text: "0 consents\n"))
    }

    @Test("a sweep that ended early says so, with the status of its reason")
    func early() throws {
        let id = try #require(ConsentID("cns_019378f0c0de7000a1b2c3d4e5f60718"))
        let one = [RefreshResult(id: id, outcome: .refreshed(nextAt: nil))]
        let interrupted = SweepOutput.summary(one, early: .interrupted, json: false)
        #expect(interrupted.text == "\(id)  refreshed\n1 consent: 1 refreshed\n")
        #expect(
            interrupted.errors
                == "consent-gateway: interrupted: the consents that are not listed were not begun\n")
        #expect(interrupted.status == .interrupted)
        let gone = SweepOutput.summary(one, early: .storeUnavailable, store: "/var/c.db", json: false)
        #expect(
            gone.errors
                == "consent-gateway: store.url: /var/c.db: the store is out of reach or busy: the consents that are not listed were not "
                + "begun\n")
        #expect(gone.status == .partlyDone)
        #expect(SweepOutput.summary([], early: .storeUnavailable, json: false).status == .storeOrKeys)
    }
}
