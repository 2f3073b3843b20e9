// SPDX-License-Identifier: Apache-2.0
import Consents

/// Who calls.
enum Caller: Sendable {
    case key(APIKey)
    case user(UserCaller)

    /// As events, log lines and limits have it. The names of keys have no colon, those of users have one.
    var name: String {
        switch self {
        case .key(let key): key.name
        case .user(let user): user.name
        }
    }

    /// Nil for an API key.
    var user: UserCaller? { if case .user(let user) = self { user } else { nil } }

    /// Whether the answer to a new consent shows the attributes.
    var seesProfiles: Bool {
        switch self {
        case .key(let key): key.scopes.contains(.profilesRead)
        case .user: true
        }
    }

    /// - Throws: `Problem` 403.
    func hold(against route: Route) throws(Problem) {
        switch self {
        case .key(let key):
            guard key.scopes.contains(route.scope) else { throw .insufficientScope(route.scope) }
        case .user:
            guard route.isForUsers else { throw .notForUsers(route.scope) }
        }
    }
}

/// What is known of a request's caller before anybody else is asked.
enum CallerFinding: Sendable {
    case known(Caller)
    /// A session token that takes its issuer's keys.
    case session(SecretText)
}
