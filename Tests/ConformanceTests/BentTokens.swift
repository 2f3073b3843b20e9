// SPDX-License-Identifier: Apache-2.0
import NativeCrypto
import NativeJOSE
import NativeJSON

@testable import EndToEndTests

extension OpenIDScript.Behaviour {
    /// ID tokens have other claims from now on, signed by the provider's key as ever.
    mutating func bendClaims(_ bend: @escaping @Sendable (inout JSONValue) -> Void) {
        let key = key
        idToken = { made in
            var claims = BentToken(made).claims
            bend(&claims)
            return key.sign(claims, type: "JWT")
        }
    }

    /// ID tokens name no key from now on.
    mutating func leaveKeyIDOut() {
        let key = key
        idToken = { made in
            var token = BentToken(made)
            token.header = token.header.without("kid")
            return token.text { key.signature(over: $0) }
        }
    }

    /// A bit of every ID token's signature is another from now on.
    mutating func breakSignature() {
        idToken = { made in
            let token = BentToken(made)
            var signature = token.signature
            signature[signature.count / 2] ^= 1
            return token.text { _ in signature }
        }
    }
}

/// A token taken apart.
struct BentToken {
    var header: JSONValue
    var claims: JSONValue
    let signature: [UInt8]

    init(header: JSONValue, claims: JSONValue) {
        self.header = header
        self.claims = claims
        signature = []
    }

    init(_ compact: String) {
        let parts = compact.split(separator: ".").map { Base64.urlSafe.bytes(of: String($0)) ?? [] }
        header = (try? JSONValue.parse(parts[0], as: .callers)) ?? .null
        claims = (try? JSONValue.parse(parts[1], as: .callers)) ?? .null
        signature = parts[2]
    }

    /// In compact form, signed so.
    func text(_ sign: ([UInt8]) -> [UInt8]) -> String {
        let message = [header, claims].map { Base64.urlSafe.text(of: $0.serialized(.compact)) }.joined(separator: ".")
        return message + "." + Base64.urlSafe.text(of: sign(Array(message.utf8)))
    }
}

extension JSONValue {
    /// The same object without members of those names.
    func without(_ names: String...) -> JSONValue {
        var rest = JSONValue.object()
        for (name, value) in members where !names.contains(name) { rest.set(name, value) }
        return rest
    }
}
