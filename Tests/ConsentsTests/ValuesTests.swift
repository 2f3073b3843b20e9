// SPDX-License-Identifier: Apache-2.0
import Consents
import Testing

@Suite("Values")
struct ValuesTests {
    @Test("a UUIDv7 keeps its time in front, its version and its variant, and comes back from its bytes and digits")
    func uuidRoundTrip() throws {
        let uuid = UUIDv7(milliseconds: 0x0193_78F0_C0DE, random: (.max, .max))
        #expect(uuid.hexadecimal == "019378f0c0de7fffbfffffffffffffff")
        #expect(UUIDv7(bytes: uuid.bytes) == uuid)
        #expect(UUIDv7(hexadecimal: uuid.hexadecimal[...]) == uuid)
        let id = ConsentID(uuid)
        #expect(ConsentID(id.description) == id)
    }

    @Test("later identifiers sort behind earlier ones, in memory and by their bytes")
    func uuidOrder() {
        let early = UUIDv7(milliseconds: 1_000, random: (.max, .max))
        let late = UUIDv7(milliseconds: 1_001, random: (0, 0))
        #expect(early < late)
        #expect(early.bytes.lexicographicallyPrecedes(late.bytes))
    }

    @Test(
        "what is no consent identifier is none",
        arguments: [
            "", "cns_", "cns_019378f0c0de7000a1b2c3d4e5f6071", "cns_019378f0c0de7000a1b2c3d4e5f607189",
            "cns_019378F0C0DE7000A1B2C3D4E5F60718", "019378f0c0de7000a1b2c3d4e5f60718",
            "cns_019378f0c0de7000a1b2c3d4e5f6071g", "cns_019378f0c0de7000a1b2c3d4e5f6071é",
        ])
    func badIdentifier(_ text: String) {
        #expect(ConsentID(text) == nil)
    }

    @Test(
        "an instant is written as RFC 3339 in UTC",
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (1_767_323_045_000, "2026-01-02T03:04:05Z"),
            (951_782_400_999, "2000-02-29T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"),
            (4_107_542_399_000, "2100-02-28T23:59:59Z"), (253_402_300_799_000, "9999-12-31T23:59:59Z"),
            (253_402_300_800_000, "10000-01-01T00:00:00Z"), (-62_135_596_800_000, "0001-01-01T00:00:00Z"),
        ] as [(Int64, String)])
    func instantText(_ milliseconds: Int64, _ text: String) {
        #expect(Instant(milliseconds: milliseconds).text == text)
    }

    @Test("an instant moved beyond the end of time stays there")
    func instantOverflow() {
        let moved = Instant(milliseconds: .max - 1).advanced(by: .seconds(Int64.max))
        #expect(moved.milliseconds == .max)
    }

    @Test("a secret, a subject and a profile do not print")
    func nothingPrints() throws {
        let secret = SecretText("canary-value")
        let subject = try #require(Subject("canary-value"))
        let profile = Profile(claims: [.email: .text("canary-value")])
        var printed = "\(secret) \(subject) \(profile) \(String(reflecting: secret)) \(String(reflecting: subject))"
        dump((secret, subject, profile), to: &printed)
        dump(TokenSet(accessToken: secret, tokenType: "Bearer", refreshToken: secret, idToken: secret), to: &printed)
        #expect(!printed.contains("canary"))
    }

    @Test(
        "a subject has 1 to 255 bytes and no control character",
        arguments: [
            ("", false), ("a", true), (String(repeating: "ä", count: 127), true),
            (String(repeating: "ä", count: 128), false), ("a\u{0}b", false), ("a\nb", false), ("a\u{7F}", false),
            ("a\u{85}b", false), ("e\u{301}", true),
        ])
    func subjects(_ text: String, _ isGood: Bool) {
        #expect((Subject(text) != nil) == isGood)
    }

    @Test("subjects compare byte for byte, not by what they look like")
    func subjectComparison() throws {
        let composed = try #require(Subject("\u{E9}"))
        let decomposed = try #require(Subject("e\u{301}"))
        #expect(!composed.isSame(as: decomposed))
    }

    @Test("scopes are a set in the order of writing")
    func scopes() {
        let scopes = ScopeSet(blankSeparated: "openid email  openid address")
        #expect(scopes.names == ["openid", "email", "address"])
        #expect(scopes == ScopeSet(["address", "openid", "email"]))
        #expect(scopes.blankSeparated == "openid email address")
    }

    @Test("a profile is cut to what both the grant and the configuration cover")
    func minimised() {
        let profile = Profile(
            claims: [
                .sub: .text("s"), .email: .text("a@example.test"), .phoneNumber: .text("1"), .name: .text("n"),
                .payerID: .text("p"),
            ],
            address: [.country: "DE"])
        let cut = profile.minimised(
            to: ScopeSet(["openid", "email", "address"]), and: ScopeSet(["openid", "email", "phone", "profile"]))
        #expect(cut == Profile(claims: [.sub: .text("s"), .email: .text("a@example.test")]))
    }
}
