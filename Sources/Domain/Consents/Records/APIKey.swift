// SPDX-License-Identifier: Apache-2.0
/// A caller's key as it is kept: its SHA-256, never the key.
package struct APIKey: Sendable, Equatable {
    package var name: String
    /// SHA-256 of the whole key text, 32 bytes.
    package var digest: [UInt8]
    package var scopes: Set<CallerScope>
    package var createdAt: Instant
    package var expiresAt: Instant?
    package var revokedAt: Instant?
    /// To within some minutes.
    package var lastUsedAt: Instant?

    package init(
        name: String, digest: [UInt8], scopes: Set<CallerScope>, createdAt: Instant, expiresAt: Instant?,
        revokedAt: Instant? = nil, lastUsedAt: Instant? = nil
    ) {
        self.name = name
        self.digest = digest
        self.scopes = scopes
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.revokedAt = revokedAt
        self.lastUsedAt = lastUsedAt
    }
}

/// What an API key may do (contract, section 2). `admin` implies no other.
package enum CallerScope: String, Sendable, CaseIterable {
    case consentsRead = "consents:read"
    case consentsWrite = "consents:write"
    case profilesRead = "profiles:read"
    case tokensRead = "tokens:read"
    case admin
}
