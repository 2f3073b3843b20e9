// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeCrypto
import NativeJSON

@testable import IdentityTokens
@testable import NativeJOSE

/// What holds for every key set, every discovery document, and every token as a whole, by its header and by its claims.
/// An input is read as each.
enum IdentityProperties {
    private static let key = try? ES256PrivateKey()
    private static let now = Instant(milliseconds: 1_767_323_045_000)
    private static let policy = TokenPolicy(
        algorithms: Set(JOSEAlgorithm.allCases), secret: nil, types: .unnamed(or: []))
    private static let rules = IDTokenRules(issuer: "https://op.test", clientID: "app1", trustedAudiences: [])
    private static let callers = CallerTokenRules(
        issuer: "https://op.test", audience: "app1", algorithms: [.es256], type: nil, subjectClaim: "sub",
        subjectPrefix: "p:")

    static func check(_ input: [UInt8], _ breaches: inout Breaches) {
        checkKeys(input, &breaches)
        checkMetadata(input, &breaches)
        checkToken(input, &breaches)
        checkHeader(input, &breaches)
        checkClaims(input, &breaches)
    }

    private static func checkKeys(_ input: [UInt8], _ breaches: inout Breaches) {
        guard let set = try? JSONWebKeySet(document: input) else { return }
        breaches.expect(set.keys.count + set.passedOver.count <= JSONWebKeySet.most, "a set has more than 100 keys")
        for key in set.keys {
            breaches.expect(key.key.thumbprint.utf8.count == 43, "a key's thumbprint is none")
            breaches.expect((key.id?.utf8.count ?? 0) <= 512, "a key's name is too long")
            if case .rsa(let bits) = key.key.kind { breaches.expect(bits >= 2048, "a weak key was taken") }
            for algorithm in JOSEAlgorithm.allCases where key.isMeant(for: algorithm) {
                breaches.expect(
                    algorithm.isAsymmetric && algorithm.fits(key.key.kind), "a key fits another's algorithm")
            }
        }
    }

    private static func checkMetadata(_ input: [UInt8], _ breaches: inout Breaches) {
        guard let rule = EndpointRule(issuer: rules.issuer, allowedHosts: []),
            let metadata = try? ProviderMetadata(document: input, of: rules.issuer, rule)
        else { return }
        breaches.expect(["https://op.test", "https://op.test/"].contains(metadata.issuer), "another issuer was taken")
        for url in Array(metadata.endpoints.values) + Array(metadata.certificateEndpoints.values) {
            let isSafe = url.text.lowercased().hasPrefix("https:") && url.text.utf8.allSatisfy { 0x21...0x7E ~= $0 }
            breaches.expect(isSafe && url.text.utf8.count <= 2048, "an endpoint was taken that is not https")
        }
        for list in ProviderMetadata.List.allCases {
            breaches.expect((metadata.told(list)?.count ?? 0) <= 100, "a list has no end")
        }
    }

    /// Nobody can sign with a key that was made a moment ago.
    private static func checkToken(_ input: [UInt8], _ breaches: inout Breaches) {
        judge(String(decoding: input, as: UTF8.self), isOwn: false, &breaches)
    }

    /// With a header of ours only if it says what was done and nothing else.
    private static func checkHeader(_ input: [UInt8], _ breaches: inout Breaches) {
        let token = signed(input, Array("{}".utf8))
        guard judge(token, isOwn: true, &breaches) != nil else { return }
        let header = try? JSONValue.parse(input, as: .callers)
        breaches.expect(header?["alg"]?.string == "ES256", "a token was verified with another algorithm than it names")
        for name in ["crit", "b64", "jwk", "jku", "x5u", "x5c"] {
            breaches.expect(header?[name] == nil, "a header with \(name) was taken")
        }
    }

    private static func checkClaims(_ input: [UInt8], _ breaches: inout Breaches) {
        let token = signed(Array(#"{"alg":"ES256"}"#.utf8), input)
        let json = try? JSONValue.parse(input, as: .callers)
        let verified = judge(token, isOwn: true, &breaches)
        let isObject = json?.kind == .object && input.first != 0xEF
        breaches.expect(
            input.count > 40_000 || (verified != nil) == isObject, "claims are read that are no object, or are not")
        guard let verified else { return }
        let asked = IDTokenRules.Asked(nonce: nil, maximumAge: .seconds(60), accessToken: SecretText("A"))
        if let identity = try? rules.check(verified, asked, now: now) {
            breaches.expect(json?["iss"]?.string == rules.issuer, "another issuer's token was taken")
            breaches.expect(identity.audiences.contains("app1"), "a token for others was taken")
            breaches.expect((1...255).contains(identity.subject.utf8.count), "a subject is none")
            breaches.expect(identity.expiresAt > now.advanced(by: .seconds(-60)), "an expired token was taken")
            let again = try? rules.checkRefreshed(
                verified, identity.anchor(nonce: nil), accessToken: nil, now: now)
            breaches.expect(again != nil, "a token is not its own successor")
        }
        if let subject = try? callers.check(verified, now: now) {
            breaches.expect(subject.text.hasPrefix("p:") && subject.text.utf8.count > 2, "a caller is nobody")
        }
    }

    private static func signed(_ header: [UInt8], _ payload: [UInt8]) -> String {
        let message = [header, payload].map { Base64.urlSafe.text(of: $0) }.joined(separator: ".")
        return message + "." + Base64.urlSafe.text(of: key?.signature(over: Array(message.utf8)) ?? [])
    }

    /// What was verified, if anything was.
    @discardableResult
    private static func judge(_ token: String, isOwn: Bool, _ breaches: inout Breaches) -> VerifiedToken? {
        guard let point = key?.publicKey, let key = try? VerificationKey.ec(curve: "P-256", x: point.x, y: point.y)
        else { return nil }
        let set = JSONWebKeySet(keys: [
            JSONWebKey(key: key, id: nil, algorithm: nil, use: nil, operations: nil)
        ])
        switch TokenVerification(policy).verify(token, with: set, keysAreFresh: true) {
        case .verified(let verified):
            breaches.expect(isOwn, "a token was verified that nobody signed")
            return verified
        case .invalid(let fault): breaches.expect("\(fault)".utf8.count < 200, "a fault is a long story")
        case .cannotVerify(let name): breaches.expect(name.utf8.count <= 20, "an algorithm's name is a long story")
        case .unknownKey: breaches.expect(false, "newer keys are asked for than the newest")
        }
        return nil
    }
}
