// SPDX-License-Identifier: Apache-2.0
package import Consents
package import NativeCrypto
import NativeHTTPServer
import NativeSystem

/// Who may call: the API keys of the store and of the configuration, as they were when last read, and the merchant's
/// users by their sessions.
///
/// The keys are known by their SHA-256 only. `reload` every few seconds makes created and revoked keys known.
package final class CallerDirectory: Sendable {
    private let store: any ConsentStore
    private let time: any Timekeeper
    private let hash: SHA256Digest
    private let keys: Locked<[[UInt8]: APIKey]>
    /// When keys were used since that was last written down.
    private let uses = Locked<[String: Instant]>([:])

    private let sessions: (any UserSessions)?

    /// - Parameters:
    ///   - configured: keys that stand in the configuration by their hash.
    ///   - sessions: nil where no user calls by himself.
    /// - Throws: ``CryptoUnavailable`` where OpenSSL gives no SHA-256.
    package init(
        store: any ConsentStore, time: any Timekeeper, configured: [APIKey], sessions: (any UserSessions)?
    ) throws(CryptoUnavailable) {
        hash = try SHA256Digest()
        self.sessions = sessions
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

    /// Whose credentials a request carries, as far as that can be told at once.
    ///
    /// - Throws: `Problem` 401; 400 where there is more than one `Authorization` field.
    func finding(in headers: HTTPHeaders) throws(Problem) -> CallerFinding {
        let fields = headers.all("Authorization")
        guard let field = fields.first else { throw .unauthenticated(hasCredentials: false) }
        guard fields.count == 1 else { throw .invalidRequest("Authorization: more than one field.") }
        guard let bytes = CallerDirectory.bearerToken(field) else { throw .unauthenticated(hasCredentials: false) }
        let digest = hash(Array(bytes))
        if let key = keys.withLock({ $0[digest] }) {
            guard key.isValid(at: time.now) else { throw .unauthenticated(hasCredentials: true) }
            let now = time.now
            uses.withLock { $0[key.name] = now }
            return .known(.key(key))
        }
        guard let sessions, let token = CallerDirectory.sessionToken(bytes) else {
            throw .unauthenticated(hasCredentials: true)
        }
        guard let verdict = sessions.verdictAtOnce(on: token) else { return .session(token) }
        return .known(try CallerDirectory.caller(verdict))
    }

    /// The user whose session it is, once the issuer's keys are there.
    /// - Throws: `Problem` 401; 503 where they cannot be had.
    func caller(of session: SecretText) async throws(Problem) -> Caller {
        guard let sessions else { throw .unauthenticated(hasCredentials: true) }
        return try CallerDirectory.caller(await sessions.verdict(on: session))
    }

    private static func caller(_ verdict: UserVerdict) throws(Problem) -> Caller {
        switch verdict {
        case .user(let user): return .user(user)
        case .refused(let reason): throw .sessionRefused(reason)
        case .unavailable: throw .sessionKeysUnavailable
        }
    }

    /// What has the three parts of a signed token (RFC 7515, section 7.1), which no API key has.
    private static func sessionToken(_ bytes: ArraySlice<UInt8>) -> SecretText? {
        guard bytes.count(where: { $0 == UInt8(ascii: ".") }) == 2 else { return nil }
        return String(validating: bytes, as: UTF8.self).map(SecretText.init)
    }

    /// What stands behind the scheme `Bearer`, which is written in any case (RFC 9110, section 11.1).
    private static func bearerToken(_ field: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let scheme = "bearer ".utf8.span
        let bytes = field.span
        guard bytes.count > scheme.count,
            scheme.indices.allSatisfy({ bytes[$0] == scheme[$0] || (bytes[$0] | 0x20) == scheme[$0] })
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
