// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeCrypto
import TokenVaults

/// A ring whose keys are the same in every run.
let sampleRing = """
    {"version": 1, "current": "k2", "index_key": "\(key(3))", "ledger_key": "\(key(4))", "note": "skipped",
     "keys": {"k1": {"key": "\(key(1))", "created_at": "2026-01-01T00:00:00Z", "retired_at": "2026-02-01T00:00:00Z"},
              "k2": {"key": "\(key(2))", "created_at": "2026-02-01T00:00:00Z", "note": 7}},
     "evidence": {"current": "e1", "keys": {"e1": {"key": "\(evidenceKey)", "created_at": "2026-02-01T00:00:00Z"}}}}
    """

/// The key of RFC 6979, A.2.5, in DER.
let evidenceKey =
    "MHcCAQEEIMmvqdhFunUWa1whV2ex1pNOUMPbNuibEnuKYisSD2choAoGCCqGSM49AwEHoUQDQgAEYP7UuiVanTHJYet0xjVtaMBJuJI7Yfps5m"
    + "liLmDyn7Z5A/4QCLi8maQa6elWKLxk8vGyDC1+n1F3o8KU1EYimQ=="

/// Base64 of a key that is one byte repeated.
func key(_ byte: UInt8, count: Int = 32) -> String {
    Base64.standard.text(of: [UInt8](repeating: byte, count: count))
}

func sampleVault() throws -> RingVault { try RingVault(ring: KeyRing(parsing: Array(sampleRing.utf8))) }

func consentID(_ number: UInt64) -> ConsentID {
    ConsentID(UUIDv7(milliseconds: 1_767_323_045_678, random: (number, number)))
}

let sampleTokens = TokenSet(
    accessToken: SecretText("A21AAGHr9-access"), tokenType: "Bearer", refreshToken: SecretText("R23AAH-refresh\u{0}é"),
    idToken: SecretText("eyJhbGciOi.id.token"))

let sampleProfile = Profile(
    claims: [
        .sub: .text("https://www.paypal.com/webapps/auth/identity/user/abc"), .emailVerified: .flag(true),
        .name: .text("Zoë Müller"), .updatedAt: .integer(1_767_323_045), .phoneNumber: .text(""),
    ], address: [.locality: "Köln", .country: "DE"])

func sampleGrant(isFull: Bool) -> KeptGrant? {
    Subject("user-42").map { subject in
        KeptGrant(
            answer: TokenAnswer(
                tokens: isFull
                    ? sampleTokens
                    : TokenSet(accessToken: SecretText("a"), tokenType: "", refreshToken: nil, idToken: nil),
                scopes: isFull ? ScopeSet(["openid", "email"]) : nil, expiresIn: isFull ? 28_800 : nil,
                refreshTokenExpiresIn: isFull ? 315_360_000 : nil, oddities: isFull ? ["scope_with_commas"] : []),
            provider: ProviderKey(name: "paypal", environment: isFull ? "sandbox" : nil),
            issuer: IssuingClient(
                clientID: "client-1", tokenEndpoint: "https://api-m.sandbox.paypal.com/v1/oauth2/token"),
            subject: subject, requested: ScopeSet(["openid", "profile"]),
            client: isFull ? ClientApp(platform: "iOS", productName: nil, sdkVersion: "2.18.1") : nil,
            notice: isFull ? NoticeReference(text: "signup@3", isAssumed: true) : nil, caller: "backend",
            requestID: isFull ? "r-1" : nil, issuedAt: Instant(milliseconds: 1_767_323_045_678),
            identity: isFull
                ? AskedIdentity(
                    nonce: SecretText("n-1"), isRequired: true, receivedAt: Instant(milliseconds: 1_767_323_046_000))
                : nil)
    }
}

extension SealedBytes {
    /// The same envelope with one byte changed.
    func altered(at index: Int) -> SealedBytes {
        var bytes = bytes
        bytes[index] ^= 0x10
        return SealedBytes(bytes)
    }

    func contains(_ text: String) -> Bool {
        let wanted = Array(text.utf8)
        return (0...max(0, bytes.count - wanted.count)).contains { bytes[$0...].starts(with: wanted) }
    }
}
