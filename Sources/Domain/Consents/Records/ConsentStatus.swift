// SPDX-License-Identifier: Apache-2.0
/// Where a consent stands in its life (contract, section 2).
package enum ConsentStatus: String, Sendable, CaseIterable {
    case active
    /// From a failed attempt to the next success; a valid access token is still good.
    case failing
    /// The grant is gone; the person must consent again.
    case reauthorizationRequired = "reauthorization_required"
    /// A newer record took its place.
    case superseded
    /// No refresh token, and the access token has lapsed.
    case expired
    case revoked

    /// Whether a new consent of the same person may renew this record. An ended one is never revived.
    package var isLive: Bool {
        switch self {
        case .active, .failing, .reauthorizationRequired: true
        case .superseded, .expired, .revoked: false
        }
    }

    /// Whether the grant may be sent to the provider.
    package var isGrantHeld: Bool { self == .active || self == .failing }
}

/// Why a consent has its status.
package enum StatusReason: String, Sendable, CaseIterable {
    case providerRejected = "provider_rejected"
    case ambiguousRotation = "ambiguous_rotation"
    case clientChanged = "client_changed"
    case noRefreshToken = "no_refresh_token"
    case idTokenInvalid = "id_token_invalid"
    case restoredBackup = "restored_backup"
    case withdrawnAtProvider = "withdrawn_at_provider"
    case user
    case `operator`
    case retention
}

/// What is known of the profile.
package enum ProfileStatus: String, Sendable, CaseIterable {
    case current
    /// Not yet fetched; it will be.
    case pending
    /// The provider refuses it, or it was destroyed with the grant.
    case unavailable
}
