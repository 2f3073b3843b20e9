// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What a person's *Agree* has brought into the app: an authorization code, and when it came.
///
/// Make one in the moment the code arrives, and keep it in memory only, until ``ConsentClient/keep(_:subject:notice:)``
/// has an outcome that ends it. A person who cancels brings none, and that is no error: there is nothing to send.
public struct Authorization: Sendable {
    /// How long PayPal takes a code after it was made.
    public static let life: TimeInterval = 180

    let members: Data
    let receivedAt: Date

    /// The whole answer of PayPal's SDK, as JSON: what it hands the app as a dictionary is
    /// `JSONSerialization.data(withJSONObject: authorization)`. It goes to the gateway as it is.
    /// - Returns: nil where it is no JSON object.
    public init?(sdkResponse: Data, receivedAt: Date = Date()) {
        guard let object = try? JSONSerialization.jsonObject(with: sdkResponse) as? [String: Any] else { return nil }
        self.init(["authorization": object], receivedAt)
    }

    /// A code of any other provider, with what the app made for it.
    /// - Parameters:
    ///   - provider: its name in the gateway's configuration.
    ///   - codeVerifier: the PKCE verifier (RFC 7636) of the authorization request.
    ///   - redirectURI: the one of the authorization request.
    public init?(
        provider: String, code: String, codeVerifier: String? = nil, redirectURI: String? = nil, nonce: String? = nil,
        receivedAt: Date = Date()
    ) {
        let members = [
            "provider": provider, "code": code, "code_verifier": codeVerifier, "redirect_uri": redirectURI,
            "nonce": nonce,
        ]
        self.init(members.compactMapValues { $0 }, receivedAt)
    }

    private init?(_ members: [String: Any], _ receivedAt: Date) {
        guard let data = try? JSONSerialization.data(withJSONObject: members) else { return nil }
        self.members = data
        self.receivedAt = receivedAt
    }

    /// Whether the provider may still take the code after this many seconds.
    func isAlive(after delay: TimeInterval) -> Bool {
        Date().addingTimeInterval(delay) < receivedAt.addingTimeInterval(Self.life)
    }

    /// The body of `POST /v1/consents`; the same for each attempt.
    func body(subject: String?, notice: String?) -> Data {
        var object = (try? JSONSerialization.jsonObject(with: members) as? [String: Any]) ?? [:]
        object["subject"] = subject
        object["notice"] = notice
        return (try? JSONSerialization.data(withJSONObject: object, options: .sortedKeys)) ?? Data()
    }
}

extension Authorization: Unprintable {
    public var description: String { "an authorization (not printed)" }
}

/// Who calls the gateway: the bearer token of the request.
///
/// Never ship an API key in an app: whoever unpacks the app has it, and with it every consent. An API key is for your
/// backend, and for a demonstration on a desk. An app sends its user's session either to your backend, which knows the
/// user and calls the gateway with the key, or to the gateway itself, which knows your login's keys (`auth.jwt`).
public struct Credential: Sendable {
    let bearer: String

    public init(_ bearer: String) { self.bearer = bearer }
}

extension Credential: Unprintable {
    public var description: String { "a credential (not printed)" }
}

/// A value that holds what belongs in no log. `print`, interpolation and `dump` show its fixed sentence only.
protocol Unprintable: CustomStringConvertible, CustomReflectable {}

extension Unprintable {
    public var customMirror: Mirror { Mirror(self, children: []) }
}
