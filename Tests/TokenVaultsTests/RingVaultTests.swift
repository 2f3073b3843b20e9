// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeCrypto
import Testing
import TokenVaults

@Suite struct RingVaultTests {
    private let vault: RingVault
    private let consentKey: ConsentKey
    private let code = BlindIndex([UInt8](repeating: 7, count: 32))

    init() throws {
        vault = try sampleVault()
        consentKey = try vault.makeConsentKey(for: consentID(1))
    }

    @Test("a consent's key opens from its envelope, for its consent only")
    func consentKeys() throws {
        #expect(try vault.isSame(vault.openConsentKey(consentKey.envelope, for: consentID(1)), consentKey))
        #expect(throws: VaultFailure.notAuthentic) {
            try vault.openConsentKey(consentKey.envelope, for: consentID(2))
        }
        #expect(try !vault.isSame(vault.makeConsentKey(for: consentID(1)), consentKey))
    }

    @Test("tokens, profile and texts come back as they were sealed")
    func roundTrips() throws {
        let tokens = try vault.seal(sampleTokens, generation: 3, under: consentKey)
        #expect(try vault.openTokens(tokens, generation: 3, under: consentKey) == sampleTokens)
        for nonce in ["n-canary", ""] {
            var bound = sampleTokens
            bound.nonce = SecretText(nonce)
            bound.laterIDToken = SecretText("eyJhbGciOi.later.token")
            let sealed = try vault.seal(bound, generation: 3, under: consentKey)
            #expect(try vault.openTokens(sealed, generation: 3, under: consentKey) == bound)
            #expect(Hexadecimal.text(of: sealed.bytes).contains(Hexadecimal.text(of: Array("n-canary".utf8))) == false)
        }
        let profile = try vault.seal(sampleProfile, under: consentKey)
        #expect(try vault.openProfile(profile, under: consentKey) == sampleProfile)
        for text in ["user-42", "", "Zoë 🏖"] {
            let sealed = try vault.seal(SecretText(text), as: .subject, under: consentKey)
            #expect(try vault.openText(sealed, as: .subject, under: consentKey).reveal() == text)
        }
    }

    @Test("grants and statements come back as they were sealed", arguments: [true, false])
    func besideCodes(isFull: Bool) throws {
        let grant = try #require(sampleGrant(isFull: isFull))
        let opened = try vault.openGrant(vault.seal(grant, code: code), code: code)
        #expect(opened.answer == grant.answer)
        #expect(opened.answer.tokens.refreshToken == grant.answer.tokens.refreshToken)
        #expect(opened.provider == grant.provider && opened.issuer == grant.issuer)
        #expect(opened.subject.isSame(as: grant.subject) && opened.requested == grant.requested)
        #expect(opened.client == grant.client && opened.notice == grant.notice)
        #expect(opened.caller == grant.caller && opened.requestID == grant.requestID)
        #expect(opened.issuedAt == grant.issuedAt)
        let statement = ProviderStatement(
            status: 400, error: isFull ? "invalid_grant" : nil, errorDescription: isFull ? "gone" : nil,
            correlationID: isFull ? "8ab" : nil)
        #expect(try vault.openStatement(vault.seal(statement, code: code), code: code) == statement)
    }

    @Test("a token of the outbox comes back as it was sealed, in its own row only")
    func outbox() throws {
        let id = UUIDv7(milliseconds: 1_767_323_045_678, random: (1, 2))
        let other = UUIDv7(milliseconds: 1_767_323_045_678, random: (1, 3))
        for text in ["R23AAH-refresh", "R23\u{0}Zoë 🏖", String(repeating: "x", count: 20_000)] {
            let sealed = try vault.sealToken(SecretText(text), outbox: id)
            #expect(try vault.openToken(sealed, outbox: id) == SecretText(text))
            #expect(sealed.bytes.starts(with: [1, 2] + Array("k2".utf8)) && !sealed.contains("R23"))
            #expect(throws: VaultFailure.notAuthentic) { try vault.openToken(sealed, outbox: other) }
            #expect(throws: VaultFailure.notAuthentic) { try vault.openToken(sealed.altered(at: 20), outbox: id) }
            #expect(throws: VaultFailure.notAuthentic) { try vault.openGrant(sealed, code: code) }
        }
        #expect(throws: VaultFailure.notAuthentic) { try vault.openToken(consentKey.envelope, outbox: id) }
        #expect(throws: VaultFailure.notAuthentic) {
            // The same identifier in another place.
            try vault.openToken(try vault.makeConsentKey(for: ConsentID(id)).envelope, outbox: id)
        }
        let stranger = try RingVault(ring: KeyRing.generate(at: Instant(milliseconds: 0)))
        #expect(throws: VaultFailure.keyMissing(keyID: "k2")) {
            try stranger.openToken(try vault.sealToken(SecretText("R"), outbox: id), outbox: id)
        }
    }

    @Test("a token's fingerprint is its SHA-256 in hexadecimal digits")
    func fingerprint() {
        #expect(
            vault.fingerprint(of: SecretText("abc"))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test("an envelope in another consent, column or generation does not open")
    func moved() throws {
        let other = ConsentKey(id: consentID(2), envelope: consentKey.envelope, material: consentKey.material)
        let tokens = try vault.seal(sampleTokens, generation: 3, under: consentKey)
        let subject = try vault.seal(SecretText("user-42"), as: .subject, under: consentKey)
        let grant = try vault.seal(try #require(sampleGrant(isFull: true)), code: code)
        let otherCode = BlindIndex([UInt8](repeating: 8, count: 32))
        let secondKey = try vault.makeConsentKey(for: consentID(1))
        let attempts: [() throws -> Void] = [
            { _ = try vault.openTokens(tokens, generation: 4, under: consentKey) },
            { _ = try vault.openTokens(tokens, generation: 3, under: other) },
            { _ = try vault.openTokens(tokens, generation: 3, under: secondKey) },
            { _ = try vault.openProfile(tokens, under: consentKey) },
            { _ = try vault.openText(tokens, as: .subject, under: consentKey) },
            { _ = try vault.openText(subject, as: .providerSubject, under: consentKey) },
            { _ = try vault.openText(subject, as: .subject, under: other) },
            { _ = try vault.openGrant(grant, code: otherCode) },
            { _ = try vault.openStatement(grant, code: code) },
            { _ = try vault.openGrant(consentKey.envelope, code: code) },
            { _ = try vault.openConsentKey(tokens, for: consentID(1)) },
        ]
        for attempt in attempts { #expect(throws: VaultFailure.notAuthentic) { try attempt() } }
    }

    @Test("an envelope with any byte altered, cut or added does not open")
    func altered() throws {
        let tokens = try vault.seal(sampleTokens, generation: 1, under: consentKey)
        for index in tokens.bytes.indices {
            #expect(throws: VaultFailure.notAuthentic) {
                try vault.openTokens(tokens.altered(at: index), generation: 1, under: consentKey)
            }
            #expect(throws: VaultFailure.notAuthentic) {
                try vault.openTokens(SealedBytes(Array(tokens.bytes[..<index])), generation: 1, under: consentKey)
            }
        }
        #expect(throws: VaultFailure.notAuthentic) {
            try vault.openTokens(SealedBytes(tokens.bytes + [0]), generation: 1, under: consentKey)
        }
        for index in consentKey.envelope.bytes.indices {
            #expect(throws: VaultFailure.self) {
                try vault.openConsentKey(consentKey.envelope.altered(at: index), for: consentID(1))
            }
        }
    }

    @Test("an envelope has version, key name and nonce before what is sealed, and no nonce twice")
    func layout() throws {
        let envelope = consentKey.envelope.bytes
        #expect(envelope.starts(with: [1, 2] + Array("k2".utf8)))
        #expect(envelope.count == 2 + 2 + 12 + 32 + 16)
        let subject = SecretText("user-42")
        let nonces = try (0..<500).map { _ in
            let bytes = try vault.seal(subject, as: .subject, under: consentKey).bytes
            #expect(bytes.starts(with: [1, 7] + Array("consent".utf8)))
            return Array(bytes[9..<21])
        }
        #expect(Set(nonces).count == 500)
    }

    @Test("nothing of a token, subject, code or attribute stands in an envelope")
    func nothingInClear() throws {
        let grant = try #require(sampleGrant(isFull: true))
        let personal = try vault.personalPart(["subject": SecretText("user-42")], under: consentKey)
        let envelopes = try [
            vault.seal(sampleTokens, generation: 1, under: consentKey), vault.seal(sampleProfile, under: consentKey),
            vault.seal(SecretText("user-42"), as: .subject, under: consentKey), vault.seal(grant, code: code),
            personal.sealed,
        ]
        for envelope in envelopes {
            for secret in ["A21AAGHr9", "R23AAH", "eyJhbGciOi", "user-42", "M\u{FC}ller", "access_token", "paypal"] {
                #expect(!envelope.contains(secret))
            }
        }
        #expect("\(consentKey)" == "the key of \(consentKey.id)")
    }

    @Test("a retired key opens, the current one seals, and a missing one is named")
    func rotation() throws {
        let old = sampleRing.replacing("\"current\": \"k2\"", with: "\"current\": \"k1\"")
            .replacing(", \"retired_at\": \"2026-02-01T00:00:00Z\"", with: "")
        let before = try RingVault(ring: KeyRing(parsing: Array(old.utf8)))
        let sealed = try before.makeConsentKey(for: consentID(5))
        #expect(try vault.isSame(vault.openConsentKey(sealed.envelope, for: consentID(5)), sealed))
        let stranger = try RingVault(ring: KeyRing.generate(at: Instant(milliseconds: 0)))
        #expect(throws: VaultFailure.keyMissing(keyID: "k1")) {
            try stranger.openConsentKey(sealed.envelope, for: consentID(5))
        }
    }

    @Test("a running vault takes a ring with a new key, and refuses one that cannot open what was sealed")
    func taking() throws {
        let old = try RingVault(
            ring: KeyRing(
                parsing: Array(
                    sampleRing.replacing("\"current\": \"k2\"", with: "\"current\": \"k1\"")
                        .replacing(", \"retired_at\": \"2026-02-01T00:00:00Z\"", with: "").utf8)))
        let before = try old.makeConsentKey(for: consentID(6))
        try old.take(KeyRing(parsing: Array(sampleRing.utf8)))
        let after = try old.makeConsentKey(for: consentID(7))
        #expect(String(decoding: before.envelope.bytes, as: UTF8.self).contains("k1"))
        #expect(String(decoding: after.envelope.bytes, as: UTF8.self).contains("k2"))
        #expect(try old.isSame(old.openConsentKey(before.envelope, for: consentID(6)), before))
        #expect(throws: KeyRingFailure.ofAnotherStore) { try old.take(KeyRing.generate(at: Instant(milliseconds: 0))) }
        let changed = try KeyRing(parsing: Array(sampleRing.replacing(key(1), with: key(9)).utf8))
        #expect(throws: KeyRingFailure.lacksKey("k1")) { try old.take(changed) }
        #expect(try old.isSame(old.openConsentKey(before.envelope, for: consentID(6)), before))
    }

    @Test("a personal value enters as its salted digest, and its salt and value lie under the seal")
    func personalPart() throws {
        let first = try vault.personalPart(["subject": SecretText("user-42")], under: consentKey)
        let second = try vault.personalPart(["subject": SecretText("user-42")], under: consentKey)
        guard case .text(let digest) = first.digests["subject_sha256"] else {
            Issue.record("no digest")
            return
        }
        #expect(digest.utf8.count == 64)
        #expect(first.digests.count == 1 && first.digests != second.digests)
        #expect(digest != Hexadecimal.text(of: sha256("user-42")))
    }

    @Test("the ledger's MAC is HMAC-SHA-256 under the ledger key over the two parts")
    func ledger() throws {
        let hmac = try HMACSHA256(key: SecretBytes([UInt8](repeating: 4, count: 32)))
        #expect(vault.mac(previous: [1, 2], event: [3]) == hmac.mac([1, 2, 3]))
        #expect(vault.mac(previous: [], event: [3]).count == 32)
    }
}

extension RingVault {
    /// Whether one opens what the other has sealed.
    fileprivate func isSame(_ one: ConsentKey, _ other: ConsentKey) throws -> Bool {
        let sealed = try seal(SecretText("user-42"), as: .subject, under: one)
        return (try? openText(sealed, as: .subject, under: other)) == SecretText("user-42")
    }
}
