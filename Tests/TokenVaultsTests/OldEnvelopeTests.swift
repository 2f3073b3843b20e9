// SPDX-License-Identifier: Apache-2.0
import Consents
import Testing
import TokenVaults

/// What version 1 wrote under ``sampleRing`` must open for ever: these envelopes are never made anew.
@Suite struct OldEnvelopeTests {
    private let vault: RingVault
    private let code = BlindIndex([UInt8](repeating: 7, count: 32))

    init() throws {
        vault = try sampleVault()
    }

    private func envelope(_ hexadecimal: String) throws -> SealedBytes {
        SealedBytes(try #require(Hexadecimal.bytes(of: hexadecimal)))
    }

    @Test("a grant, tokens and a profile of version 1 open")
    func versionOne() throws {
        let key = try vault.openConsentKey(envelope(OldEnvelopes.key), for: consentID(1))
        #expect(try vault.openTokens(envelope(OldEnvelopes.tokens), generation: 3, under: key) == sampleTokens)
        #expect(try vault.openProfile(envelope(OldEnvelopes.profile), under: key) == sampleProfile)
        #expect(try vault.openText(envelope(OldEnvelopes.subject), as: .subject, under: key).reveal() == "user-42")
        let personal = try vault.openPersonalPart(envelope(OldEnvelopes.personal), under: key)
        #expect(personal.values == ["subject": SecretText("user-42")])
        #expect(personal.digests.map(\.key) == ["subject_sha256"])
        let grant = try vault.openGrant(envelope(OldEnvelopes.grant), code: code)
        #expect(grant.answer == sampleGrant(isFull: true)?.answer)
        #expect(grant.subject.text == "user-42")
        #expect(
            try vault.openStatement(envelope(OldEnvelopes.statement), code: code)
                == ProviderStatement(status: 400, error: "invalid_grant"))
        let subject = try #require(Subject("user-42"))
        #expect(Hexadecimal.text(of: vault.index(of: subject).bytes) == OldEnvelopes.subjectIndex)
    }
}
