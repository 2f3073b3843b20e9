// SPDX-License-Identifier: Apache-2.0
import Consents

/// A profile as it came, cut to what the scopes cover.
struct FetchedProfile: Sendable {
    var status: ProfileStatus
    var profile: Profile?
    /// Identity is kept even where `openid` covers no attribute.
    var providerSubject: SecretText?
}

/// Asks a provider for a person's attributes, under a deadline.
struct ProfileFetch: Sendable {
    let time: any Timekeeper

    /// Under this there is no sense in asking.
    static let leastTime = Duration.milliseconds(100)

    func fetch(
        with accessToken: SecretText, from connection: any ProviderConnection, granted: ScopeSet,
        until deadline: Duration
    ) async -> FetchedProfile {
        let limit = deadline - time.monotonic
        guard limit >= ProfileFetch.leastTime else { return FetchedProfile(status: .pending, profile: nil) }
        switch await connection.profile(accessToken: accessToken, limit: limit) {
        case .fetched(let profile):
            return FetchedProfile(
                status: .current, profile: profile.minimised(to: granted, and: connection.facts.scopes),
                providerSubject: profile.providerSubject)
        case .refused:
            return FetchedProfile(status: .unavailable, profile: nil)
        case .failed:
            return FetchedProfile(status: .pending, profile: nil)
        }
    }
}
