// SPDX-License-Identifier: Apache-2.0
package import Consents
import NativeSystem

/// A code that somebody asks to be exchanged, checked for form and not yet against the configuration.
package struct ExchangeRequest: ~Copyable, Sendable {
    package let code: AuthorizationCode
    /// Nil takes the only PayPal provider of the SDK's environment.
    package let providerName: String?
    package let subject: Subject
    package let parameters: ExchangeParameters
    /// What the SDK's response said of its environment; nil for a code that came without one.
    package let environmentHint: String?
    package let client: ClientApp?
    package let nonce: SecretText?
    /// `iss` of the authorization response (RFC 9207), where it stood there.
    package let issuer: String?
    package let notice: String?
    package let caller: CallerIdentity

    package init(
        code: consuming AuthorizationCode, providerName: String?, subject: Subject, parameters: ExchangeParameters,
        environmentHint: String?, client: ClientApp?, nonce: SecretText?, issuer: String?, notice: String?,
        caller: CallerIdentity
    ) {
        self.code = code
        self.providerName = providerName
        self.subject = subject
        self.parameters = parameters
        self.environmentHint = environmentHint
        self.client = client
        self.nonce = nonce
        self.issuer = issuer
        self.notice = notice
        self.caller = caller
    }
}

/// On whose call something happens, as events and log lines name it.
package struct CallerIdentity: Sendable {
    package let name: String
    package let requestID: String?

    package init(name: String, requestID: String?) {
        self.name = name
        self.requestID = requestID
    }
}

/// A code's consent.
package struct Redemption: Sendable {
    /// What became of the call, for the answer's status.
    package enum Kind: Sendable { case created, renewed, known }
    package var consent: OpenedConsent
    package var kind: Kind
    /// True where the new grant brought no refresh token and the kept one stays.
    package var isOfflineReused: Bool

    package init(consent: OpenedConsent, kind: Kind, isOfflineReused: Bool) {
        self.consent = consent
        self.kind = kind
        self.isOfflineReused = isOfflineReused
    }
}

/// How many codes may be exchanged for one subject. The same code again is no exchange and is not counted.
package protocol ExchangeLimit: Sendable {
    /// - Returns: nil where one more is allowed, else the time until it would be.
    func countExchange(for subject: Subject) -> Duration?
}

/// Carries a code into a flight, and hands it out once.
final class CodeSlot: Sendable {
    private let code: Locked<AuthorizationCode?>

    init(_ code: consuming AuthorizationCode) { self.code = Locked(consume code) }

    func take() -> AuthorizationCode? { code.withLock { $0.take() } }
}
