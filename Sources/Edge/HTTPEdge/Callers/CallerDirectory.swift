// SPDX-License-Identifier: Apache-2.0
package import Consents
package import NativeCrypto
import NativeHTTPServer
import NativeSystem

/// Who may call: the API keys of the store and of the configuration, as they were when last read.
///
/// The keys are known by their SHA-256 only. `reload` every few seconds makes created and revoked keys known.
package final class CallerDirectory: Sendable {
    private let store: any ConsentStore
    private let time: any Timekeeper
    private let hash: SHA256Digest
    private let keys: Locked<[[UInt8]: APIKey]>
    /// When keys were used since that was last written down.
    private let uses = Locked<[String: Instant]>([:])

    /// - Parameter configured: keys that stand in the configuration by their hash.
    /// - Throws: ``CryptoUnavailable`` where OpenSSL gives no SHA-256.
    package init(store: any ConsentStore, time: any Timekeeper, configured: [APIKey]) throws(CryptoUnavailable) {
        hash = try SHA256Digest()
        self.store = store
        self.time = time
        self.configured = Locked(configured)
        keys = Locked(CallerDirectory.table(configured))
    }

    private let configured: Locked<[APIKey]>

    /// Reads the store's keys again; what was known stays where the store cannot be read.
    package func reload() async throws(StoreFailure) {
        let stored = try await store.apiKeys()
        let fixed = configured.withLock { $0 }
        keys.withLock { $0 = CallerDirectory.table(stored + fixed) }
    }

    /// Writes down when keys of the store were last used.
    package func writeUses() async throws(StoreFailure) {
        let noted = uses.withLock { uses in
            defer { uses = [:] }
            return uses
        }
        if !noted.isEmpty { try await store.noteUses(noted) }
    }

    /// Takes other keys from the configuration; the next `reload` makes them known.
    package func configure(_ keys: [APIKey]) { configured.withLock { $0 = keys } }

    private static func table(_ keys: [APIKey]) -> [[UInt8]: APIKey] {
        Dictionary(keys.map { ($0.digest, $0) }) { _, last in last }
    }

    /// The key that a request carries.
    ///
    /// - Throws: `Problem` 401; 400 where there is more than one `Authorization` field.
    func caller(of headers: HTTPHeaders) throws(Problem) -> APIKey {
        let fields = headers.all("Authorization")
        guard let field = fields.first else { throw .unauthenticated(hasCredentials: false) }
        guard fields.count == 1 else { throw .invalidRequest("Authorization: more than one field.") }
        guard let token = CallerDirectory.bearerToken(field) else { throw .unauthenticated(hasCredentials: false) }
        let digest = hash(Array(token))
        guard let key = keys.withLock({ $0[digest] }), key.isValid(at: time.now) else {
            throw .unauthenticated(hasCredentials: true)
        }
        let now = time.now
        uses.withLock { $0[key.name] = now }
        return key
    }

    /// What stands behind the scheme `Bearer`, which is written in any case (RFC 9110, section 11.1).
    private static func bearerToken(_ field: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let scheme = "bearer ".utf8
        guard field.count > scheme.count,
            zip(field, scheme).allSatisfy({ $0 == $1 || ($0 | 0x20) == $1 })
        else { return nil }
        let token = field.dropFirst(scheme.count).drop { $0 == UInt8(ascii: " ") }
        return token.isEmpty ? nil : token
    }
}

extension APIKey {
    func isValid(at now: Instant) -> Bool {
        revokedAt == nil && (expiresAt.map { now < $0 } ?? true)
    }
}
