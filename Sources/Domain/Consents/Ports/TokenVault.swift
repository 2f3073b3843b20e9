// SPDX-License-Identifier: Apache-2.0
/// What seals and opens. Every envelope names the key it is under, and is bound to its place: consent, column,
/// generation.
package protocol TokenVault: Ledger {
    /// A new random key for one consent, sealed under the ring's current key.
    func makeConsentKey(for id: ConsentID) throws(VaultFailure) -> ConsentKey
    func openConsentKey(_ envelope: SealedBytes, for id: ConsentID) throws(VaultFailure) -> ConsentKey

    func seal(_ tokens: TokenSet, generation: Int64, under key: ConsentKey) throws(VaultFailure) -> SealedBytes
    func openTokens(_ envelope: SealedBytes, generation: Int64, under key: ConsentKey) throws(VaultFailure) -> TokenSet
    func seal(_ profile: Profile, under key: ConsentKey) throws(VaultFailure) -> SealedBytes
    func openProfile(_ envelope: SealedBytes, under key: ConsentKey) throws(VaultFailure) -> Profile
    func seal(_ text: SecretText, as column: SealedColumn, under key: ConsentKey) throws(VaultFailure) -> SealedBytes
    func openText(_ envelope: SealedBytes, as column: SealedColumn, under key: ConsentKey) throws(VaultFailure)
        -> SecretText
    /// The salted digests of personal values, for an event's data, and their salts and values under one seal.
    func personalPart(_ values: KeyValuePairs<String, SecretText>, under key: ConsentKey) throws(VaultFailure)
        -> (digests: EventData, sealed: SealedBytes)
    /// The values of a personal part, and the digests that an event's data must have of them.
    func openPersonalPart(_ envelope: SealedBytes, under key: ConsentKey) throws(VaultFailure)
        -> (values: [String: SecretText], digests: EventData)

    /// A grant that is no consent yet, under the ring's key, bound to its code's digest.
    func seal(_ grant: KeptGrant, code: BlindIndex) throws(VaultFailure) -> SealedBytes
    func openGrant(_ envelope: SealedBytes, code: BlindIndex) throws(VaultFailure) -> KeptGrant
    /// What the provider said to a code, under the ring's key, bound to the code's digest.
    func seal(_ statement: ProviderStatement, code: BlindIndex) throws(VaultFailure) -> SealedBytes
    func openStatement(_ envelope: SealedBytes, code: BlindIndex) throws(VaultFailure) -> ProviderStatement

    /// A token on its way to be revoked, under the ring's key, bound to its place in the outbox.
    func sealToken(_ token: SecretText, outbox id: UUIDv7) throws(VaultFailure) -> SealedBytes
    func openToken(_ envelope: SealedBytes, outbox id: UUIDv7) throws(VaultFailure) -> SecretText

    /// What a provider brought and the store has yet to take, under the ring's key, bound to its journal entry.
    func seal(_ write: AnsweredWrite, journal id: UUIDv7) throws(VaultFailure) -> JournalEntry
    func open(_ entry: JournalEntry) throws(VaultFailure) -> AnsweredWrite
    /// Likewise an answer that nobody can read today.
    func seal(_ answer: UnreadableAnswer, journal id: UUIDv7) throws(VaultFailure) -> JournalEntry
    func openUnreadable(_ entry: JournalEntry) throws(VaultFailure) -> UnreadableAnswer

    /// - Parameter subject: part of the digest for a provider whose mock environment hands out one code for ever.
    func digest(of code: borrowing AuthorizationCode, provider: ProviderKey, clientID: String, subject: Subject?)
        -> BlindIndex
    /// How one of a client's secrets is known to the store.
    func digest(ofClientSecret secret: SecretText, provider: ProviderKey, clientID: String) -> BlindIndex
    /// SHA-256 of a token in lower-case hexadecimal, as callers name one that was refused to them.
    func fingerprint(of token: SecretText) -> String
    func index(of subject: Subject) -> BlindIndex
    /// How a consent's end stands in the list of withdrawals.
    func digest(of end: GrantEnd, _ id: ConsentID) -> BlindIndex
    func index(ofProviderSubject text: SecretText, at provider: ProviderKey) -> BlindIndex
}

/// What chains events: a MAC under the ledger key.
package protocol Ledger: Sendable {
    /// `HMAC-SHA-256(ledger key, previous ‖ event)`; `previous` is empty for a consent's first event.
    func mac(previous: [UInt8], event: [UInt8]) -> [UInt8]
}

/// A key as its vault holds it; nobody else can do anything with it.
package protocol KeyMaterial: AnyObject, Sendable {}

/// A consent's own key: its envelope for the store, and what its vault seals and opens the consent's columns with.
package struct ConsentKey: Sendable, CustomStringConvertible, CustomReflectable {
    package let id: ConsentID
    package let envelope: SealedBytes
    package let material: any KeyMaterial

    package init(id: ConsentID, envelope: SealedBytes, material: any KeyMaterial) {
        self.id = id
        self.envelope = envelope
        self.material = material
    }

    package var description: String { "the key of \(id)" }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// The columns that hold one sealed text.
package enum SealedColumn: String, Sendable {
    case subject
    case providerSubject = "provider_subject"
}

/// Why nothing could be sealed, opened or signed.
package enum VaultFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The envelope is under a key that the ring does not hold, or the signing key cannot be used.
    case keyMissing(keyID: String)
    /// The envelope was altered, or belongs to another place.
    case notAuthentic
    /// The envelope opened, but what it holds cannot be read.
    case unreadable

    package var description: String {
        switch self {
        case .keyMissing(let keyID): "the vault's key ring lacks the key \(keyID)"
        case .notAuthentic: "a sealed value was altered or moved"
        case .unreadable: "a sealed value holds something else than expected"
        }
    }
}
