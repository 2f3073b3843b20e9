// SPDX-License-Identifier: Apache-2.0
package import Consents

/// Who judges the session tokens of the merchant's own users (`auth.jwt`).
package protocol UserSessions: Sendable {
    /// What can be told without asking an issuer for its keys.
    /// - Returns: nil where that could change the verdict.
    func verdictAtOnce(on token: SecretText) -> UserVerdict?
    func verdict(on token: SecretText) async -> UserVerdict
}

/// What became of a session token.
package enum UserVerdict: Sendable {
    case user(UserCaller)
    /// It proves nothing. The sentence holds no part of the token and no secret.
    case refused(String)
    /// The issuer's keys cannot be had now: nothing is known of the token.
    case unavailable
}

/// One of the merchant's users, who may only see and change what is their own.
package struct UserCaller: Sendable {
    /// Whose consents they are.
    package let subject: Subject
    /// How events and log lines name the caller: nothing that tells who it is without the vault's keys.
    package let name: String

    package init(subject: Subject, name: String) {
        self.subject = subject
        self.name = name
    }
}
