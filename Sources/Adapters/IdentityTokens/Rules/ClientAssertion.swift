// SPDX-License-Identifier: Apache-2.0
package import Consents
package import NativeJOSE
import NativeJSON

/// How a client with a private key shows who it is at the token endpoint (RFC 7523, section 3; OpenID Connect Core,
/// section 9, `private_key_jwt`).
package struct ClientAssertion: Sendable {
    package static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    /// How long one is good; it is made right before it is sent.
    package static let life = Duration.seconds(60)

    private let key: AssertionKey
    private let clientID: String
    private let audience: String

    /// - Parameter audience: the issuer or the token endpoint, whichever the provider wants; the only one (RFC 7523bis).
    package init(key: AssertionKey, clientID: String, audience: String) {
        self.key = key
        self.clientID = clientID
        self.audience = audience
    }

    /// A fresh one, for one request.
    /// - Parameter id: `jti`, another one each time: 128 bits that nobody can guess.
    package func make(now: Instant, id: String) -> SecretText {
        let seconds = now.milliseconds / 1000
        return SecretText(
            key.sign(
                [
                    "iss": JSONValue(clientID), "sub": JSONValue(clientID), "aud": JSONValue(audience),
                    "jti": JSONValue(id), "iat": JSONValue(seconds),
                    "exp": JSONValue(seconds + Self.life.wholeSeconds),
                ], type: "JWT"))
    }
}
