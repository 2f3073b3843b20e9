// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeCrypto

/// Keyed digests that let the store find what it cannot read: HMAC-SHA-256 under the index key over a purpose and
/// parts, each with its length before it, so that no two lists of parts give the same bytes.
struct BlindIndexing: Sendable {
    enum Purpose: String {
        case code, subject
        case providerSubject = "provider_subject"
    }

    private let key: HMACSHA256

    init(key: SecretBytes) throws(CryptoUnavailable) {
        self.key = try HMACSHA256(key: key)
    }

    /// - Parameter parts: a part that is nil differs from an empty one.
    func index(_ purpose: Purpose, _ parts: [String?]) -> BlindIndex {
        var message: [UInt8] = []
        message.reserveCapacity(256)
        for part in [purpose.rawValue] + parts {
            guard let part else {
                message.append(0)
                continue
            }
            message.append(1)
            let length = UInt32(part.utf8.count)
            for shift in [24, 16, 8, 0] as [UInt32] { message.append(UInt8(truncatingIfNeeded: length >> shift)) }
            message += part.utf8
        }
        defer { wipe(&message) }
        return BlindIndex(key.mac(message))
    }
}

extension RingVault {
    package func digest(
        of code: borrowing AuthorizationCode, provider: ProviderKey, clientID: String, subject: Subject?
    ) -> BlindIndex {
        code.withText { text in
            indexing.index(.code, [provider.name, provider.environment, clientID, text, subject?.text])
        }
    }

    package func index(of subject: Subject) -> BlindIndex { indexing.index(.subject, [subject.text]) }

    package func index(ofProviderSubject text: SecretText, at provider: ProviderKey) -> BlindIndex {
        indexing.index(.providerSubject, [provider.name, provider.environment, text.reveal()])
    }
}
