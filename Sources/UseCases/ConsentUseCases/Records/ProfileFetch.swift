// SPDX-License-Identifier: Apache-2.0
import Consents

/// A profile as it came, cut to what the scopes cover.
struct FetchedProfile: Sendable {
    var status: ProfileStatus
    var profile: Profile?
    /// Identity is kept even where `openid` covers no attribute.
    var providerSubject: SecretText?
    /// Why what came, or what came before it, is not trusted; then there are no attributes.
    var doubt: ProfileDoubt?
    /// Whether the provider has a userinfo endpoint: without one nothing that is held grows old for it.
    var isOffered = true
}

/// Why a profile is not trusted.
enum ProfileDoubt: Sendable, Equatable {
    /// It is of another person than the ID token.
    case otherPerson
    /// It names nobody, and an ID token does.
    case nobody
    /// The signed answer is not what it should be.
    case untrusted(reason: String)
    /// The ID token's algorithm is none that is known here.
    case unverifiedIdentity(algorithm: String)

    var event: (type: EventType, reason: String) {
        switch self {
        case .otherPerson: (.profileRefused, "sub is another one than the ID token's")
        case .nobody: (.profileRefused, "sub is missing")
        case .untrusted(let reason): (.profileRefused, reason)
        case .unverifiedIdentity(let algorithm): (.identityUnverified, "algorithm \(algorithm)")
        }
    }
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
        case .notOffered:
            return FetchedProfile(status: .unavailable, profile: nil, isOffered: false)
        case .untrusted(let reason):
            return FetchedProfile(status: .unavailable, profile: nil, doubt: .untrusted(reason: reason))
        case .failed:
            return FetchedProfile(status: .pending, profile: nil)
        }
    }
}

extension FetchedProfile {
    /// What a verified ID token has told.
    init(told attributes: Profile, of person: SecretText, granted: ScopeSet, by connection: any ProviderConnection) {
        self.init(
            status: .current, profile: attributes.minimised(to: granted, and: connection.facts.scopes),
            providerSubject: person)
    }

    /// Whether it says more than the record does.
    func isNews(to record: ConsentRecord) -> Bool {
        status != .pending && (isOffered || record.profileStatus == .pending)
    }

    /// The same, held against the person whom a verified ID token names (OpenID Connect Core, section 5.3.2).
    func held(against person: SecretText) -> FetchedProfile {
        var held = self
        held.providerSubject = person
        guard profile != nil else { return held }
        guard let found = providerSubject else { return refused(.nobody, of: person) }
        // Byte for byte: Swift takes two spellings of one letter for the same.
        guard found.reveal().utf8.elementsEqual(person.reveal().utf8) else { return refused(.otherPerson, of: person) }
        return held
    }

    private func refused(_ doubt: ProfileDoubt, of person: SecretText) -> FetchedProfile {
        FetchedProfile(status: .unavailable, profile: nil, providerSubject: person, doubt: doubt)
    }

    /// Whether it says whose it is, where the provider's ID tokens are verified; the store holds that against the record.
    func names(personOf connection: any ProviderConnection) -> Bool {
        connection.identity == nil || profile == nil || providerSubject != nil
    }
}
