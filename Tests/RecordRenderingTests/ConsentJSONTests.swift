// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeJSON
import RecordRendering
import Testing

@Suite("A consent record as JSON")
struct ConsentJSONTests {
    /// 2026-01-02T03:04:05Z.
    let moment = Instant(milliseconds: 1_767_323_045_678)

    private func consent() throws -> OpenedConsent {
        let id = try #require(ConsentID("cns_019378f0c0de7000a1b2c3d4e5f60718"))
        let scopes = ScopeSet(["openid", "email"])
        let record = ConsentRecord(
            id: id, provider: ProviderKey(name: "paypal", environment: "sandbox"),
            issuer: IssuingClient(clientID: "client", tokenEndpoint: "https://provider.example/token"),
            requested: scopes, granted: scopes, profileStatus: .current, profileFetchedAt: moment, generation: 1,
            timing: TokenTiming(
                issuedAt: moment, accessTokenExpiresAt: moment.advanced(by: .seconds(900)), refreshTokenExpiresAt: nil,
                dueAt: moment.advanced(by: .seconds(86_400))),
            isRefreshable: true,
            client: ClientApp(platform: "iOS", productName: "PayPal iOS SDK", sdkVersion: "2.18.1"),
            notice: NoticeReference(text: "signup@3", isAssumed: false), createdAt: moment, updatedAt: moment)
        return OpenedConsent(
            record: record, subject: try #require(Subject("user-42")), providerSubject: SecretText("sub-1"),
            profile: Profile(
                claims: [.sub: .text("sub-1"), .email: .text("a@b.example"), .emailVerified: .flag(true)],
                address: [.country: "DE", .locality: "Köln"]))
    }

    private func text(_ json: JSONValue) -> String { String(decoding: json.serialized(.compact), as: UTF8.self) }

    @Test("a record has the contract's members in the contract's order, the profile among them")
    func wholeRecord() throws {
        let json = ConsentJSON.value(of: try consent(), includingProfile: true)
        #expect(
            text(json) == """
                {"id":"cns_019378f0c0de7000a1b2c3d4e5f60718","provider":"paypal","environment":"sandbox",\
                "subject":"user-42","provider_subject":"sub-1","status":"active","status_reason":null,\
                "superseded_by":null,"scopes":{"requested":["openid","email"],"granted":["openid","email"]},\
                "profile_status":"current","profile_fetched_at":"2026-01-02T03:04:05Z",\
                "profile":{"sub":"sub-1","email":"a@b.example","email_verified":true,\
                "address":{"locality":"Köln","country":"DE"}},\
                "access_token_expires_at":"2026-01-02T03:19:05Z","refreshable":true,"last_refreshed_at":null,\
                "next_refresh_at":"2026-01-03T03:04:05Z","refresh_failures":0,\
                "client":{"platform":"iOS","product_name":"PayPal iOS SDK","sdk_version":"2.18.1"},\
                "notice":"signup@3","created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:04:05Z"}
                """)
    }

    @Test("without the profile there is no such member at all")
    func withoutProfile() throws {
        let json = ConsentJSON.value(of: try consent(), includingProfile: false)
        #expect(json["profile"] == nil)
        #expect(!text(json).contains("a@b.example"))
    }

    @Test("what is not known is null, and a profile that is not held too")
    func unknownParts() throws {
        var consent = try consent()
        consent.profile = nil
        consent.providerSubject = nil
        consent.record.provider = ProviderKey(name: "acme", environment: nil)
        consent.record.client = nil
        consent.record.notice = nil
        consent.record.profileFetchedAt = nil
        consent.record.timing.dueAt = nil
        consent.record.status = .superseded
        consent.record.statusReason = .user
        consent.record.supersededBy = consent.record.id
        let json = ConsentJSON.value(of: consent, includingProfile: true)
        for name in [
            "environment", "provider_subject", "profile", "client", "notice", "next_refresh_at",
            "access_token_expires_at",
        ] {
            #expect(json[name]?.isNull == true, "\(name)")
        }
        #expect(json["status_reason"]?.string == "user")
        #expect(json["superseded_by"]?.string == "cns_019378f0c0de7000a1b2c3d4e5f60718")
    }
}
