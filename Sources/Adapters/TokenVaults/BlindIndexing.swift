// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeCrypto
internal import NativeSystem

/// Keyed digests that let the store find what it cannot read: HMAC-SHA-256 under the index key over a purpose and
/// parts, each with its length before it, so that no two lists of parts give the same bytes.
struct BlindIndexing: Sendable {
    enum Purpose: String {
        case code, subject, end
        case providerSubject = "provider_subject"
        case clientSecret = "client_secret"
    }

    private let key: HMACSHA256

    init(key: SecretBytes) throws(CryptoUnavailable) {
        self.key = try HMACSHA256(key: key)
    }

    /// - Parameter parts: a part that is nil differs from an empty one.
    func index(_ purpose: Purpose, _ parts: String?...) -> BlindIndex {
        var message: [UInt8] = []
        // With more room than it needs it never grows, and leaves no copy behind.
        message.reserveCapacity(parts.reduce(5 + purpose.rawValue.utf8.count) { $0 + 5 + ($1?.utf8.count ?? 0) })
        Self.append(purpose.rawValue, to: &message)
        for part in parts { Self.append(part, to: &message) }
        defer { wipe(&message) }
        return BlindIndex(key.mac(message))
    }

    private static func append(_ part: String?, to message: inout [UInt8]) {
        guard let part else { return message.append(0) }
        message.append(1, bigEndian: UInt32(part.utf8.count))
        message.append(text: part)
    }
}

extension RingVault {
    package func digest(
        of code: borrowing AuthorizationCode, provider: ProviderKey, clientID: String, subject: Subject?
    ) -> BlindIndex {
        code.withText { text in
            indexing.index(.code, provider.name, provider.environment, clientID, text, subject?.text)
        }
    }

    package func digest(ofClientSecret secret: SecretText, provider: ProviderKey, clientID: String) -> BlindIndex {
        indexing.index(.clientSecret, provider.name, provider.environment, clientID, secret.reveal())
    }

    package func index(of subject: Subject) -> BlindIndex { indexing.index(.subject, subject.text) }

    package func digest(of end: GrantEnd, _ id: ConsentID) -> BlindIndex {
        indexing.index(.end, end.rawValue, id.description)
    }

    package func index(ofProviderSubject text: SecretText, at provider: ProviderKey) -> BlindIndex {
        indexing.index(.providerSubject, provider.name, provider.environment, text.reveal())
    }
}
