// SPDX-License-Identifier: Apache-2.0
import NativeJOSE
import NativeJSON

@testable import EndToEndTests

/// Keys as they stand in the sets of providers that name none of them.
enum NamelessKeys {
    /// The public part without `kid` and `alg`.
    static func bare(_ key: AssertionKey) -> JSONValue { key.publicJWK.without("kid", "alg") }

    /// Signing keys that an RS256 token cannot be of: P-256, secp256k1 and Ed25519.
    static var others: [JSONValue] {
        get throws {
            [
                bare(try SigningKeys.key(SigningKeys.ec, .es256)),
                [
                    "kty": "EC", "crv": "secp256k1", "use": "sig", "x": "eb5mfvncu6xVoGKVzocLBwKb_NstzijZWfKBWxb4F5g",
                    "y": "SDradyajxGVdpPv8DhEIqP0XtEimhVQZnEfQj_sQ1Lg",
                ],
                // The key of RFC 8037, appendix A.
                [
                    "kty": "OKP", "crv": "Ed25519", "use": "sig", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
                ],
            ]
        }
    }
}
