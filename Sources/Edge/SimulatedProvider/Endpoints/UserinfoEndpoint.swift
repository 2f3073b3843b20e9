// SPDX-License-Identifier: Apache-2.0
import NativeJSON

/// The shapes of a profile.
enum UserinfoSchema: Sendable {
    /// OpenID Connect Core section 5.1.
    case standard
    /// PayPal's `schema=openid`: standard claims, with the identifier in `user_id` too and truth as text.
    case openid
    /// PayPal's `schema=paypalv1.1`: no `sub`, and a list of addresses for letters.
    case paypal
}

extension Simulation {
    mutating func userinfo(
        _ call: SimulatedCall, _ schema: UserinfoSchema, _ dialect: Dialect, at now: Int64
    ) -> SimulatedAnswer {
        do throws(Refusal) {
            guard let token = call.bearerToken else { throw .accessTokenDead }
            let (person, scopes, clientID) = try state.holder(of: token, at: now)
            let profile = schema.profile(of: person, scopes: Set(scopes))
            if case .standard = schema, options.signsUserinfo, let keys {
                return signed(profile, for: clientID, keys)
            }
            return SimulatedAnswer(status: 200, json: profile)
        } catch {
            return dialect.answer(error)
        }
    }
}

extension SimulatedCall {
    /// The token of `Authorization: Bearer …` (RFC 6750 section 2.1).
    var bearerToken: String? {
        guard let field = field("authorization") else { return nil }
        let parts = field.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1])
    }
}

extension UserinfoSchema {
    /// What the scopes let a client read of the person.
    func profile(of person: Person, scopes: Set<String>) -> JSONValue {
        var claims: JSONValue = self == .standard ? [:] : ["user_id": JSONValue(person.userID)]
        if self != .paypal { claims.set("sub", person.userID) }
        if scopes.contains("profile") { addNames(of: person, to: &claims) }
        if scopes.contains("email") { addEmail(of: person, to: &claims) }
        if scopes.contains("phone"), let number = person.phoneNumber { claims.set("phone_number", number) }
        if scopes.contains("address"), let address = person.address { claims.set("address", Self.json(address)) }
        if scopes.contains("https://uri.paypal.com/services/paypalattributes"), self != .standard {
            claims.set("payer_id", person.payerID)
            claims.set("account_type", "PERSONAL")
            claims.set("verified_account", "true")
        }
        return claims
    }

    private func addNames(of person: Person, to claims: inout JSONValue) {
        claims.set("name", person.givenName + " " + person.familyName)
        claims.set("given_name", person.givenName)
        claims.set("family_name", person.familyName)
        guard self != .paypal else { return }
        claims.set("locale", person.locale)
        claims.set("zoneinfo", person.zoneInfo)
        if let birthdate = person.birthdate { claims.set(self == .openid ? "birthday" : "birthdate", birthdate) }
    }

    private func addEmail(of person: Person, to claims: inout JSONValue) {
        switch self {
        case .standard:
            claims.set("email", person.email)
            claims.set("email_verified", person.isEmailVerified)
        case .openid:
            claims.set("email", person.email)
            claims.set("email_verified", person.isEmailVerified ? "true" : "false")
        case .paypal:
            let entry: JSONValue = [
                "value": JSONValue(person.email), "primary": true, "confirmed": JSONValue(person.isEmailVerified),
            ]
            claims.set("emails", .array([entry]))
        }
    }

    private static func json(_ address: PostalAddress) -> JSONValue {
        [
            "street_address": JSONValue(address.street), "locality": JSONValue(address.locality),
            "region": JSONValue(address.region), "postal_code": JSONValue(address.postalCode),
            "country": JSONValue(address.country),
        ]
    }
}
