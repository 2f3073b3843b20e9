// SPDX-License-Identifier: Apache-2.0
package import Consents
package import NativeCrypto
internal import NativeSystem

extension AES256GCMKey: KeyMaterial {}

/// A ring with its current key made ready.
private final class HeldRing: Sendable {
    let ring: KeyRing
    let current: AES256GCMKey

    init(_ ring: KeyRing, _ cipher: AES256GCM) {
        self.ring = ring
        current = cipher.key(ring.current.material)
    }
}

/// The vault over a key ring: AES-256-GCM through OpenSSL, a random key a consent under the ring's current key.
///
/// It can take another ring while it works (SIGHUP), as long as everything that was sealed stays readable.
package struct RingVault: TokenVault, EvidenceKeys, EvidenceHash {
    private let held: Locked<HeldRing>
    private let cipher: AES256GCM
    private let hash: SHA256Digest
    private let random = RandomStock()
    private let newKeys = KeyStock()
    private let ledger: HMACSHA256
    let indexing: BlindIndexing

    /// - Throws: `CryptoUnavailable` where OpenSSL lacks an algorithm.
    package init(ring: KeyRing) throws(CryptoUnavailable) {
        cipher = try AES256GCM()
        held = Locked(HeldRing(ring, cipher))
        hash = try SHA256Digest()
        ledger = try HMACSHA256(key: ring.ledgerKey)
        indexing = try BlindIndexing(key: ring.indexKey)
    }

    private var ring: KeyRing { held.withLock { $0 }.ring }

    /// Seals under that ring's current key from now on.
    /// - Throws: ``KeyRingFailure``: `ofAnotherStore` where the index or the ledger key differs, `lacksKey` where a key
    ///   is gone or changed that may still be in use. The old ring stays then.
    package func take(_ next: KeyRing) throws(KeyRingFailure) {
        let old = ring
        guard isSameInConstantTime(next.indexKey.reveal(), old.indexKey.reveal()),
            isSameInConstantTime(next.ledgerKey.reveal(), old.ledgerKey.reveal())
        else { throw .ofAnotherStore }
        for (id, key) in old.keys.sorted(by: { $0.key < $1.key }) {
            guard let kept = next.keys[id], isSameInConstantTime(kept.material.reveal(), key.material.reveal()) else {
                throw .lacksKey(id)
            }
        }
        for (id, key) in old.evidence.keys.sorted(by: { $0.key < $1.key })
        where next.evidence.keys[id]?.publicKey != key.publicKey {
            throw .lacksKey(id)
        }
        let taken = HeldRing(next, cipher)
        held.withLock { $0 = taken }
    }

    package var evidenceSigner: any EvidenceSigner { ring.evidence }

    package func sha256(_ bytes: [UInt8]) -> [UInt8] { hash(bytes) }

    package func mac(previous: [UInt8], event: [UInt8]) -> [UInt8] { ledger.mac(previous, event) }

    // MARK: A consent's key

    package func makeConsentKey(for id: ConsentID) throws(VaultFailure) -> ConsentKey {
        let material = newKeys.key(KeyRing.keyLength)
        let envelope = sealUnderRing(room: material.count, at: Place(id, column: "key")) { material.append(to: &$0) }
        return ConsentKey(id: id, envelope: envelope, material: cipher.key(material))
    }

    package func openConsentKey(_ envelope: SealedBytes, for id: ConsentID) throws(VaultFailure) -> ConsentKey {
        var material = try openUnderRing(envelope, at: Place(id, column: "key"))
        defer { wipe(&material) }
        guard material.count == KeyRing.keyLength else { throw .unreadable }
        return ConsentKey(id: id, envelope: envelope, material: cipher.key(SecretBytes(material)))
    }

    // MARK: Columns, under the consent's key

    package func seal(
        _ tokens: TokenSet, generation: Int64, under key: ConsentKey
    ) throws(VaultFailure) -> SealedBytes {
        try sealColumn(tokens, at: Place(key.id, column: "tokens", generation: generation), key)
    }

    package func openTokens(
        _ envelope: SealedBytes, generation: Int64, under key: ConsentKey
    ) throws(VaultFailure) -> TokenSet {
        let place = Place(key.id, column: "tokens", generation: generation)
        return try read(try openColumn(envelope, at: place, key))
    }

    package func seal(_ profile: Profile, under key: ConsentKey) throws(VaultFailure) -> SealedBytes {
        try sealColumn(profile, at: Place(key.id, column: "profile"), key)
    }

    package func openProfile(_ envelope: SealedBytes, under key: ConsentKey) throws(VaultFailure) -> Profile {
        try read(try openColumn(envelope, at: Place(key.id, column: "profile"), key))
    }

    package func seal(
        _ text: SecretText, as column: SealedColumn, under key: ConsentKey
    ) throws(VaultFailure) -> SealedBytes {
        let text = text.reveal()
        return try sealColumn(room: text.utf8.count, at: Place(key.id, column: column.rawValue), key) {
            $0.append(text: text)
        }
    }

    package func openText(
        _ envelope: SealedBytes, as column: SealedColumn, under key: ConsentKey
    ) throws(VaultFailure) -> SecretText {
        var bytes = try openColumn(envelope, at: Place(key.id, column: column.rawValue), key)
        return try readText(wiping: &bytes)
    }

    package func personalPart(
        _ values: KeyValuePairs<String, SecretText>, under key: ConsentKey
    ) throws(VaultFailure) -> (digests: EventData, sealed: SealedBytes) {
        var digests = EventData()
        var kept = PersonalValues()
        for (name, value) in values {
            var salt: [UInt8] = []
            random.append(16, to: &salt)
            digests[name + "_sha256"] = digest(of: value, salt)
            kept.values.append((name, salt, value))
        }
        return (digests, try sealColumn(kept, at: Place(key.id, column: "event_personal"), key))
    }

    package func openPersonalPart(
        _ envelope: SealedBytes, under key: ConsentKey
    ) throws(VaultFailure) -> (values: [String: SecretText], digests: EventData) {
        let kept: PersonalValues = try read(try openColumn(envelope, at: Place(key.id, column: "event_personal"), key))
        var values: [String: SecretText] = [:]
        var digests: EventData = [:]
        for (name, salt, value) in kept.values {
            values[name] = value
            digests[name + "_sha256"] = digest(of: value, salt)
        }
        return (values, digests)
    }

    private func digest(of value: SecretText, _ salt: [UInt8]) -> EventValue {
        let text = value.reveal()
        var bytes: [UInt8] = []
        // With the room it needs it never grows, and leaves no copy behind.
        bytes.reserveCapacity(salt.count + text.utf8.count)
        bytes += salt
        bytes.append(text: text)
        defer { wipe(&bytes) }
        return .text(Hexadecimal.text(of: hash(bytes)))
    }

    // MARK: What lies beside a code, under the ring's key

    package func seal(_ grant: KeptGrant, code: BlindIndex) throws(VaultFailure) -> SealedBytes {
        sealUnderRing(grant, at: Place(purpose: "grant", code: code))
    }

    package func openGrant(_ envelope: SealedBytes, code: BlindIndex) throws(VaultFailure) -> KeptGrant {
        try read(try openUnderRing(envelope, at: Place(purpose: "grant", code: code)))
    }

    package func seal(_ statement: ProviderStatement, code: BlindIndex) throws(VaultFailure) -> SealedBytes {
        sealUnderRing(statement, at: Place(purpose: "statement", code: code))
    }

    package func openStatement(_ envelope: SealedBytes, code: BlindIndex) throws(VaultFailure) -> ProviderStatement {
        try read(try openUnderRing(envelope, at: Place(purpose: "statement", code: code)))
    }

    // MARK: What lies in the outbox, under the ring's key

    package func sealToken(_ token: SecretText, outbox id: UUIDv7) throws(VaultFailure) -> SealedBytes {
        let text = token.reveal()
        return sealUnderRing(room: text.utf8.count, at: Place(purpose: "outbox", id: id)) { $0.append(text: text) }
    }

    package func openToken(_ envelope: SealedBytes, outbox id: UUIDv7) throws(VaultFailure) -> SecretText {
        var bytes = try openUnderRing(envelope, at: Place(purpose: "outbox", id: id))
        return try readText(wiping: &bytes)
    }

    package func seal(_ write: AnsweredWrite, journal id: UUIDv7) throws(VaultFailure) -> JournalEntry {
        JournalEntry(id: id, sealed: sealUnderRing(write, at: Place(purpose: "journal", id: id)))
    }

    package func seal(_ answer: UnreadableAnswer, journal id: UUIDv7) throws(VaultFailure) -> JournalEntry {
        JournalEntry(id: id, sealed: sealUnderRing(answer, at: Place(purpose: "unreadable", id: id)))
    }

    package func openUnreadable(_ entry: JournalEntry) throws(VaultFailure) -> UnreadableAnswer {
        try read(try openUnderRing(entry.sealed, at: Place(purpose: "unreadable", id: entry.id)))
    }

    package func open(_ entry: JournalEntry) throws(VaultFailure) -> AnsweredWrite {
        try read(try openUnderRing(entry.sealed, at: Place(purpose: "journal", id: entry.id)))
    }

    package func fingerprint(of token: SecretText) -> String {
        var bytes = Array(token.reveal().utf8)
        defer { wipe(&bytes) }
        return Hexadecimal.text(of: hash(bytes))
    }

    // MARK: The two kinds of seal

    private func sealUnderRing(_ value: some SealedForm, at place: Place) -> SealedBytes {
        sealUnderRing(room: value.formLength, at: place) { value.appendForm(to: &$0) }
    }

    private func sealUnderRing(room: Int, at place: Place, _ write: (inout [UInt8]) -> Void) -> SealedBytes {
        let held = held.withLock { $0 }
        return Envelope.sealing(
            room: room, with: held.current, named: held.ring.currentID, at: place, nonce: random, write)
    }

    private func openUnderRing(_ envelope: SealedBytes, at place: Place) throws(VaultFailure) -> [UInt8] {
        guard let parts = Envelope(envelope.bytes) else { throw .notAuthentic }
        guard let key = ring.keys[parts.keyID] else {
            throw KeyRing.isKeyID(parts.keyID) ? .keyMissing(keyID: parts.keyID) : .notAuthentic
        }
        guard let plaintext = parts.opened(at: place, with: cipher.key(key.material)) else { throw .notAuthentic }
        return plaintext
    }

    private func sealColumn(
        _ value: some SealedForm, at place: Place, _ key: ConsentKey
    ) throws(VaultFailure) -> SealedBytes {
        try sealColumn(room: value.formLength, at: place, key) { value.appendForm(to: &$0) }
    }

    /// - Throws: `unreadable` for a key of another kind of vault.
    private func sealColumn(
        room: Int, at place: Place, _ key: ConsentKey, _ write: (inout [UInt8]) -> Void
    ) throws(VaultFailure) -> SealedBytes {
        guard let material = key.material as? AES256GCMKey else { throw .unreadable }
        return Envelope.sealing(
            room: room, with: material, named: Envelope.consentKeyID, at: place, nonce: random, write)
    }

    private func openColumn(
        _ envelope: SealedBytes, at place: Place, _ key: ConsentKey
    ) throws(VaultFailure) -> [UInt8] {
        guard let parts = Envelope(envelope.bytes), parts.keyID == Envelope.consentKeyID,
            let material = key.material as? AES256GCMKey, let plaintext = parts.opened(at: place, with: material)
        else { throw .notAuthentic }
        return plaintext
    }

    private func readText(wiping plaintext: inout [UInt8]) throws(VaultFailure) -> SecretText {
        defer { wipe(&plaintext) }
        guard let text = String(validating: plaintext, as: UTF8.self) else { throw .unreadable }
        return SecretText(text)
    }

    private func read<Value: SealedForm>(_ opened: consuming [UInt8]) throws(VaultFailure) -> Value {
        var plaintext = opened
        defer { wipe(&plaintext) }
        do throws(FormDamage) { return try Value(form: plaintext) } catch { throw .unreadable }
    }
}
