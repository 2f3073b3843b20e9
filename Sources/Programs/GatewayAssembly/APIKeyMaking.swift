// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeCrypto

extension APIKey {
    /// A new key and its text, which is kept nowhere: `cgk_NAME_` and 256 random bits in base64url.
    static func make(name: String, scopes: Set<CallerScope>, lifetime: Duration?, now: Instant)
        -> (key: APIKey, text: SecretText)
    {
        let text = "cgk_\(name)_" + Base64.urlSafe.text(of: randomBytes(32))
        let key = APIKey(
            name: name, digest: sha256(text), scopes: scopes, createdAt: now,
            expiresAt: lifetime.map { now.advanced(by: $0) })
        return (key, SecretText(text))
    }
}
