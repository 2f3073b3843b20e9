// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What came of handing a consent to the gateway, named by what the app does next.
public enum ConsentOutcome: Sendable {
    /// The gateway keeps the consent: go on, with the profile in the form.
    case kept(Consent)
    /// The code is spent or too old, and the person's consent is not kept: show the provider's consent screen again.
    case askAgain(AskAgain)
    /// The code may still be good, or may already be exchanged: keep the same ``Authorization`` and hand it over again
    /// after this many seconds. The person is not asked for anything.
    case tryLater(after: TimeInterval)
    /// Neither the person nor waiting can help: a mistake of the app, the gateway's setup, or somebody else's code.
    case cannot(GatewayProblem)
}

/// Why the person has to consent again. The raw value is the gateway's word.
public enum AskAgain: String, Sendable {
    /// The provider does not take the code: expired, used or forged.
    case codeRejected = "code_rejected"
    /// The ID token that came with it cannot be trusted.
    case idTokenInvalid = "id_token_invalid"
    /// The provider's answer could not be read; the code is spent.
    case providerBadResponse = "provider_bad_response"
    /// The code went out and nobody knows what became of it; it is never sent again.
    case exchangeUnknown = "exchange_unknown"
    /// Found by the app: the code would be over before the provider can be asked.
    case codeTooOld = "code_too_old"
}

/// The record that the gateway keeps, as far as an app has a use for it.
public struct Consent: Sendable, Decodable {
    public let id: String
    /// `active` for a new one. The same code handed over again answers the record as it is by now, which may be
    /// `revoked` if the person has withdrawn meanwhile.
    public let status: String
    /// What the person shares; nil where the caller may not read it, or it was not there yet.
    public let profile: Profile?
}

extension Consent: Unprintable {
    public var description: String { "the consent \(id), \(status)" }
}

/// Attributes for a form, after OpenID Connect Core, section 5.1; each is nil where the person does not share it.
public struct Profile: Sendable, Decodable {
    public let name: String?
    public let givenName: String?
    public let familyName: String?
    public let email: String?
    public let phoneNumber: String?
    public let address: Address?

    public struct Address: Sendable, Decodable {
        public let streetAddress: String?
        public let locality: String?
        public let region: String?
        public let postalCode: String?
        public let country: String?
    }
}

extension Profile: Unprintable {
    public var description: String { "a profile (not printed)" }
}

extension Profile.Address: Unprintable {
    public var description: String { "an address (not printed)" }
}

/// An answer that is no use to try again, for the app's log and for whoever runs the gateway.
public struct GatewayProblem: Sendable, CustomStringConvertible {
    /// The HTTP status.
    public let status: Int
    /// The gateway's word, such as `unauthenticated`; nil where something else answered, such as a proxy.
    public let code: String?
    /// Names the request in the gateway's log.
    public let requestID: String?

    public var description: String {
        let answer = "the answer \(status) \(code ?? "of something that is no gateway")"
        return answer + (requestID.map { ", request \($0)" } ?? "")
    }
}
