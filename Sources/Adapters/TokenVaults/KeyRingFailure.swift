// SPDX-License-Identifier: Apache-2.0
package import NativeCrypto
package import NativeJSON
package import NativeSystem

/// Why there is no key ring, and what to do. It names members, never what they hold.
package enum KeyRingFailure: Error, Sendable, Equatable, CustomStringConvertible {
    case file(PrivateFileFailure)
    case notWritten(FileWritingFailure)
    case notJSON(JSONError)
    /// Made by a newer program, or no ring at all.
    case unknownVersion
    /// A member that is missing or of another type.
    case missingMember(String)
    /// A member that is not base64.
    case notBase64(member: String)
    case wrongLength(member: String, bytes: Int)
    case badKeyID
    case currentKeyMissing
    case currentKeyRetired
    case keyWithTwoPurposes
    /// It was made before there was one, or lost it.
    case noEvidenceKey
    case currentEvidenceKeyMissing
    case currentEvidenceKeyRetired
    /// A member that is no key on P-256.
    case notP256(member: String)
    /// A key cannot be made here.
    case unavailable(CryptoUnavailable)
    /// It cannot take the place of the ring in use: nothing would be found, no chain would hold.
    case ofAnotherStore
    /// It cannot take the place of the ring in use: what is sealed under that key could not be opened.
    case lacksKey(String)

    package var description: String {
        switch self {
        case .file(.unread(.notFound)):
            "the vault's key ring is not there: make one with `consent-gateway keys init`, or name the one in use"
        case .file(let failure): "the vault's key ring cannot be used: \(failure.sentence)"
        case .notWritten(let failure): "the vault's key ring cannot be written: \(failure.sentence)"
        case .notJSON(let error): "the vault's key ring is not JSON: \(error)"
        case .unknownVersion: "the vault's key ring is not of version 1: run the program that made it"
        case .missingMember(let name): "the vault's key ring lacks a usable `\(name)`: take it from a copy of the ring"
        case .notBase64(let name): "`\(name)` in the vault's key ring is not base64: take it from a copy of the ring"
        case .wrongLength(let name, let count):
            "`\(name)` in the vault's key ring has \(count) bytes, it must have 32: take it from a copy of the ring"
        case .badKeyID:
            "a key's name in the vault's key ring is not 1 to 32 letters, digits, `.`, `_`, `-`, or is `consent`"
        case .currentKeyMissing: "`current` in the vault's key ring names a key that is not among its `keys`"
        case .currentKeyRetired: "`current` in the vault's key ring names a retired key"
        case .noEvidenceKey:
            "the vault's key ring lacks `evidence`, the key that signs checkpoints and receipts: take it from a copy "
                + "of the ring, or from a new ring that `consent-gateway keys init` makes elsewhere"
        case .currentEvidenceKeyMissing:
            "`evidence.current` in the vault's key ring names a key that is not among its `evidence.keys`"
        case .currentEvidenceKeyRetired:
            "`evidence.current` in the vault's key ring names a key that is retired or cannot sign"
        case .notP256(let name):
            "`\(name)` in the vault's key ring is no key on P-256 in DER: take it from a copy of the ring"
        case .unavailable(let failure): "no key can be made: \(failure)"
        case .ofAnotherStore: "the vault's key ring has another index or ledger key: it belongs to another store"
        case .lacksKey(let id): "the vault's key ring lacks the key `\(id)`, or it was changed: it may still be in use"
        case .keyWithTwoPurposes: "two keys of the vault's key ring are the same: each purpose needs its own"
        }
    }
}
