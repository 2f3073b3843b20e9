// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Consents
import Testing

@Suite("A record on the command line")
struct RecordOutputTests {
    /// 2026-01-02T03:04:05Z.
    private let moment = Instant(milliseconds: 1_767_323_045_000)

    private func consent() throws -> OpenedConsent {
        let id = try #require(ConsentID("cns_019378f0c0de7000a1b2c3d4e5f60718"))
        let record = ConsentRecord(
            id: id, provider: ProviderKey(name: "paypal", environment: "sandbox"),
            issuer: IssuingClient(clientID: "client", tokenEndpoint: "https://provider.example/token"),
            requested: ScopeSet(["openid", "email", "phone"]), granted: ScopeSet(["openid", "email"]),
            profileStatus: .current, profileFetchedAt: moment, generation: 1,
            timing: TokenTiming(
                issuedAt: moment, accessTokenExpiresAt: moment.advanced(by: .seconds(900)), refreshTokenExpiresAt: nil,
                dueAt: moment.advanced(by: .seconds(86_400))),
            isRefreshable: true,
            client: ClientApp(platform: "iOS", productName: "PayPal iOS SDK", sdkVersion: "2.18.1"),
            notice: NoticeReference(text: "signup@3", isAssumed: true), createdAt: moment, updatedAt: moment)
        return OpenedConsent(
            record: record, subject: try #require(Subject("user-42")), providerSubject: SecretText("sub-1"),
            profile: Profile(claims: [.email: .text("a@b.example")]))
    }

    @Test("a record is a table of what an operator asks first")
    func table() throws {
        let output = ConsentOutput.show(try consent(), json: false)
        #expect(
            output.text == """
                cns_019378f0c0de7000a1b2c3d4e5f60718
                  provider          paypal (sandbox)
                  subject           user-42
                  provider subject  sub-1
                  status            active
                  scopes granted    openid email
                  scopes requested  openid email phone
                  profile           current, fetched 2026-01-02T03:04:05Z
                  access token      until 2026-01-02T03:19:05Z
                  last refreshed    never
                  next refresh      2026-01-03T03:04:05Z
                  app               iOS, PayPal iOS SDK, 2.18.1
                  notice            signup@3 (assumed)
                  created           2026-01-02T03:04:05Z
                  updated           2026-01-02T03:04:05Z

                """)
        #expect(output.status == .done)
    }

    @Test("what went wrong with a record is in the table")
    func ended() throws {
        var consent = try consent()
        consent.record.status = .reauthorizationRequired
        consent.record.statusReason = .providerRejected
        consent.record.refreshFailures = 3
        consent.record.isRefreshable = false
        consent.record.timing.dueAt = nil
        consent.providerSubject = nil
        let text = ConsentOutput.show(consent, json: false).text
        #expect(text.contains("  status             reauthorization_required (provider_rejected)\n"))
        #expect(text.contains("  failures in a row  3\n"))
        #expect(text.contains("  next refresh       never: there is no refresh token\n"))
        #expect(text.contains("  provider subject   not known yet\n"))
    }

    @Test("a withdrawn record says that nothing is held any more")
    func withdrawn() throws {
        var consent = try consent()
        consent.record.status = .revoked
        consent.record.statusReason = .user
        consent.record.profileStatus = .unavailable
        consent.record.isRefreshable = false
        consent.record.timing.dueAt = nil
        let text = ConsentOutput.show(consent, json: false).text
        for line in [
            "status            revoked (user)", "profile           unavailable, fetched 2026-01-02T03:04:05Z",
            "access token      none: it was destroyed", "next refresh      never: the consent has ended",
        ] {
            #expect(text.contains("  \(line)\n"))
        }
    }

    @Test("what an app or a provider wrote cannot move the terminal")
    func harmless() throws {
        var consent = try consent()
        consent.record.client = ClientApp(platform: "\u{1B}[2J", productName: "a\nb", sdkVersion: nil)
        #expect(ConsentOutput.show(consent, json: false).text.contains("  app               ?[2J, a?b\n"))
    }

    @Test("as JSON it is the API's record without attributes")
    func json() throws {
        let text = ConsentOutput.show(try consent(), json: true).text
        #expect(text.hasPrefix("{\n  \"id\": \"cns_019378f0c0de7000a1b2c3d4e5f60718\",\n  \"provider\": \"paypal\",\n"))
        #expect(text.hasSuffix("\"updated_at\": \"2026-01-02T03:04:05Z\"\n}\n"))
        #expect(!text.contains("a@b.example") && !text.contains("\"profile\""))
    }
}
