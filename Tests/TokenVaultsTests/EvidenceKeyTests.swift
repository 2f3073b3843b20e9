// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeCrypto
import Testing
import TokenVaults

@Suite struct EvidenceKeyTests {
    private let message = Array("what happened".utf8)

    private func ring(_ text: String) throws -> KeyRing { try KeyRing(parsing: Array(text.utf8)) }

    /// The sample's key retired for `e2`, with what `member` says of it.
    private func rotated(_ member: String, current: String = "e2") throws -> String {
        let next = try Base64.standard.text(of: ES256PrivateKey().serialized())
        return sampleRing.replacing("\"current\": \"e1\"", with: "\"current\": \"\(current)\"").replacing(
            "{\"e1\": {\"key\": \"\(evidenceKey)\", \"created_at\": \"2026-02-01T00:00:00Z\"}}",
            with: """
                {"e1": {\(member), "created_at": "2026-02-01T00:00:00Z", "retired_at": "2026-03-01T00:00:00Z"},
                 "e2": {"key": "\(next)", "created_at": "2026-03-01T00:00:00Z"}}
                """)
    }

    private func failure(of text: String) -> KeyRingFailure? {
        do throws(KeyRingFailure) {
            _ = try KeyRing(parsing: Array(text.utf8))
            return nil
        } catch {
            #expect(!"\(error) \(String(reflecting: error))".contains(evidenceKey.prefix(40)))
            return error
        }
    }

    @Test("a vault signs under the ring's evidence key, and what it signed holds")
    func signing() throws {
        let signer = try sampleVault().evidenceSigner
        #expect(signer.keyID == "e1" && signer.publicKeys.map(\.keyID) == ["e1"])
        #expect(signer.publicKeys[0].x.prefix(2) == [0x60, 0xFE] && signer.publicKeys[0].y.suffix(2) == [0x22, 0x99])
        let signature = try signer.signature(over: message)
        #expect(signature.count == 64)
        #expect(signer.verdict(on: signature, over: message, keyID: "e1") == .holds)
        #expect(signer.verdict(on: signature, over: message + [0], keyID: "e1") == .fails)
        #expect(signer.verdict(on: [], over: message, keyID: "e1") == .fails)
        #expect(signer.verdict(on: signature, over: message, keyID: "e2") == .keyUnknown)
    }

    @Test("a ring without an evidence key is refused with what to do")
    func missing() {
        #expect(failure(of: sampleRing.replacing("\"evidence\"", with: "\"other\"")) == .noEvidenceKey)
        #expect(
            KeyRingFailure.noEvidenceKey.description
                == "the vault's key ring lacks `evidence`, the key that signs checkpoints and receipts: take it from "
                + "a copy of the ring, or from a new ring that `consent-gateway keys init` makes elsewhere")
    }

    @Test("an evidence key that cannot sign is refused with its member's name")
    func broken() throws {
        #expect(
            failure(of: sampleRing.replacing(evidenceKey, with: key(5)))
                == .notP256(member: "evidence.keys.e1.key"))
        #expect(
            failure(of: sampleRing.replacing(evidenceKey, with: "no base64!"))
                == .notBase64(member: "evidence.keys.e1.key"))
        #expect(
            failure(of: sampleRing.replacing("\"current\": \"e1\"", with: "\"current\": \"e9\""))
                == .currentEvidenceKeyMissing)
        #expect(failure(of: sampleRing.replacing("{\"e1\":", with: "{\"e 1\":")) == .badKeyID)
        let member = "\"key\": \"\(evidenceKey)\""
        #expect(failure(of: try rotated(member, current: "e1")) == .currentEvidenceKeyRetired)
        #expect(
            failure(of: try rotated("\"public\": \"\(key(5, count: 64))\""))
                == .notP256(member: "evidence.keys.e1.public"))
        #expect(failure(of: try rotated("\"note\": 1")) == .missingMember("evidence.keys.e1.public"))
    }

    @Test("a retired key verifies, whole or by its public part alone, and the new one signs", arguments: [true, false])
    func rotation(isWhole: Bool) throws {
        let before = try sampleVault()
        let old = before.evidenceSigner
        let signature = try old.signature(over: message)
        let point = Base64.standard.text(of: old.publicKeys[0].x + old.publicKeys[0].y)
        let member = isWhole ? "\"key\": \"\(evidenceKey)\"" : "\"public\": \"\(point)\""
        try before.take(ring(rotated(member)))
        let signer = before.evidenceSigner
        #expect(signer.keyID == "e2" && signer.publicKeys.map(\.keyID) == ["e2", "e1"])
        #expect(signer.verdict(on: signature, over: message, keyID: "e1") == .holds)
        let later = try signer.signature(over: message)
        #expect(signer.verdict(on: later, over: message, keyID: "e2") == .holds)
        #expect(old.keyID == "e1" && old.verdict(on: later, over: message, keyID: "e2") == .keyUnknown)
    }

    @Test("a running vault refuses a ring that lost an evidence key or changed it")
    func taking() throws {
        let vault = try sampleVault()
        let other = try Base64.standard.text(of: ES256PrivateKey().serialized())
        #expect(throws: KeyRingFailure.lacksKey("e1")) {
            try vault.take(ring(sampleRing.replacing(evidenceKey, with: other)))
        }
        #expect(throws: KeyRingFailure.lacksKey("e1")) {
            try vault.take(ring(sampleRing.replacing("\"e1\"", with: "\"e7\"")))
        }
        #expect(vault.evidenceSigner.keyID == "e1")
    }

    @Test("a new ring has an evidence key, and a ring is written as it was read, public parts included")
    func writing() throws {
        let made = try KeyRing.generate(at: Instant(milliseconds: 1_767_323_045_678))
        #expect(made.evidence.currentID.hasPrefix("e20260102-"))
        #expect(try KeyRing(parsing: made.serialized()).evidence.publicKeys == made.evidence.publicKeys)
        let signer = try sampleVault().evidenceSigner
        let point = Base64.standard.text(of: signer.publicKeys[0].x + signer.publicKeys[0].y)
        let rotated = try ring(rotated("\"public\": \"\(point)\""))
        let read = try KeyRing(parsing: rotated.serialized())
        #expect(read.evidence.publicKeys == rotated.evidence.publicKeys && read.serialized() == rotated.serialized())
    }
}
