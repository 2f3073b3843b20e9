// SPDX-License-Identifier: Apache-2.0
import Consents

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

    /// Each form that can be read is written as long as was said, and as one that is read as the same.
    private static func checkForms(_ input: [UInt8], _ breaches: inout Breaches) {
        func check<Value: SealedForm>(_ isSame: (Value, Value) -> Bool) {
            guard let value = try? Value(form: input) else { return }
            let written = form(of: value)
            breaches.expect(written.count == value.formLength, "a \(Value.self) takes more or less room than was said")
            let again = try? Value(form: written)
            // What lies in a dictionary has no order: the same bytes, in whichever.
            breaches.expect(
                again.map { isSame($0, value) && form(of: $0).sorted() == written.sorted() } ?? false,
                "a \(Value.self) that was written and read again is another one")
        }
        check { (left: TokenSet, right) in left == right }
        check { (left: Profile, right) in left == right }
        check { (left: ProviderStatement, right) in left == right }
        check { (left: KeptGrant, right) in left.answer == right.answer && left.subject.isSame(as: right.subject) }
        check { (_: AnsweredWrite, _) in true }
        check { (left: UnreadableAnswer, right) in left.spent == right.spent && left.body == right.body }
        check { (left: PersonalValues, right) in left.values.map(\.value) == right.values.map(\.value) }
    }

    private static func form(of value: some SealedForm) -> [UInt8] {
        var bytes: [UInt8] = []
        value.appendForm(to: &bytes)
        return bytes
    }
}
