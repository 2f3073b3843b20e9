// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeJSON

@testable import TokenVaults

/// What holds for every key ring's file, every envelope and every value under a seal. An input is read as each.
enum VaultProperties {
    private static let vault: RingVault? = (try? KeyRing.generate(at: Instant(milliseconds: 0)))
        .flatMap { try? RingVault(ring: $0) }
    private static let id = UUIDv7(milliseconds: 1, random: (2, 3))

    static func check(_ input: [UInt8], _ breaches: inout Breaches) {
        checkRing(input, &breaches)
        checkEnvelope(input, &breaches)
        checkForms(input, &breaches)
        checkSeal(input, &breaches)
    }

    private static func checkRing(_ input: [UInt8], _ breaches: inout Breaches) {
        do throws(KeyRingFailure) {
            let ring = try KeyRing(parsing: input)
            let written = ring.serialized()
            breaches.expect(ring.keys[ring.currentID]?.retiredAt == nil, "a ring seals under a retired key")
            breaches.expect(ring.keys.keys.allSatisfy(KeyRing.isKeyID), "a ring's key has a name that is none")
            breaches.expect(
                try KeyRing(parsing: written).serialized() == written, "a ring that was written again is another one")
        } catch {
            breaches.expect(!error.description.isEmpty, "a ring is refused without a reason")
        }
    }

    /// Bytes that were never sealed never open.
    private static func checkEnvelope(_ input: [UInt8], _ breaches: inout Breaches) {
        if let parts = Envelope(input) {
            breaches.expect(input.count >= 2 + parts.keyID.utf8.count + 28, "an envelope is shorter than its parts")
        }
        guard let vault else {
            breaches.expect(false, "there is no vault")
            return
        }
        let sealed = SealedBytes(input)
        breaches.expect((try? vault.openToken(sealed, outbox: id)) == nil, "a token opened that was never sealed")
        breaches.expect(
            (try? vault.open(JournalEntry(id: id, sealed: sealed))) == nil, "an entry opened that was never sealed")
        breaches.expect(
            (try? vault.openConsentKey(sealed, for: ConsentID(id))) == nil, "a key opened that was never sealed")
    }

    /// What is sealed opens, at its own place only, and no bit of it may change.
    private static func checkSeal(_ input: [UInt8], _ breaches: inout Breaches) {
        guard let vault, let text = String(validating: input.prefix(64), as: UTF8.self), !text.isEmpty,
            let sealed = try? vault.sealToken(SecretText(text), outbox: id)
        else { return }
        breaches.expect(
            (try? vault.openToken(sealed, outbox: id)) == SecretText(text), "what was sealed does not open")
        let other = UUIDv7(milliseconds: 2, random: (2, 3))
        breaches.expect((try? vault.openToken(sealed, outbox: other)) == nil, "what was sealed opens elsewhere")
        var altered = sealed.bytes
        altered[Int(input[0]) % altered.count] ^= 1 << ((input.last ?? 0) % 8)
        breaches.expect(
            (try? vault.openToken(SealedBytes(altered), outbox: id)) == nil, "what was sealed opens, altered")
    }

    /// Each form that can be read is written as one that is read as the same.
    private static func checkForms(_ input: [UInt8], _ breaches: inout Breaches) {
        guard let object = SealedForm.read(input) else { return }
        func check<Value>(_ make: (JSONValue) -> Value?, _ write: (Value) -> JSONValue) {
            guard let value = make(object) else { return }
            let written = write(value).serialized(.canonical)
            let again = SealedForm.read(written).flatMap(make).map { write($0).serialized(.canonical) }
            breaches.expect(again == written, "a \(Value.self) that was written and read again is another one")
        }
        check(TokenSet.init(sealedForm:), \.sealedForm)
        check(Profile.init(sealedForm:), \.sealedForm)
        check(ProviderStatement.init(sealedForm:), \.sealedForm)
        check(KeptGrant.init(sealedForm:), \.sealedForm)
        check(AnsweredWrite.init(sealedForm:), \.sealedForm)
    }
}
