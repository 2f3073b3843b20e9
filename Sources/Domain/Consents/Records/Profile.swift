// SPDX-License-Identifier: Apache-2.0
/// A person's attributes by their OpenID Connect names (Core, section 5.1), whatever the provider calls them.
package struct Profile: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    package var claims: [ClaimName: ClaimValue]
    package var address: [AddressPart: String]

    package init(claims: [ClaimName: ClaimValue] = [:], address: [AddressPart: String] = [:]) {
        self.claims = claims
        self.address = address
    }

    /// The provider's identifier for the person.
    package var providerSubject: SecretText? {
        if case .text(let text) = claims[.sub] { SecretText(text) } else { nil }
    }

    /// Only what these scopes cover (data minimisation).
    package func minimised(to granted: ScopeSet, and configured: ScopeSet) -> Profile {
        func isCovered(_ scope: ClaimScope) -> Bool {
            granted.contains(scope.rawValue) && configured.contains(scope.rawValue)
        }
        // Many claims have one scope, which is looked for once; and most claims are covered, so those that are not are
        // taken out.
        let hidden = ClaimScope.allCases.filter { !isCovered($0) }
        var kept = self
        if !hidden.isEmpty {
            for name in claims.keys where hidden.contains(name.claimScope) { kept.claims[name] = nil }
        }
        if hidden.contains(.address) { kept.address = [:] }
        return kept
    }

    package var description: String { "a profile" }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// One attribute's value.
package enum ClaimValue: Sendable, Equatable {
    case text(String)
    case flag(Bool)
    case integer(Int64)
}

/// An attribute's name, and the scope that covers it.
package enum ClaimName: String, Sendable, CaseIterable {
    case sub
    case name, givenName = "given_name", familyName = "family_name", middleName = "middle_name", nickname
    case preferredUsername = "preferred_username", profile, picture, website, gender, birthdate, zoneinfo, locale
    case updatedAt = "updated_at"
    case email, emailVerified = "email_verified"
    case phoneNumber = "phone_number", phoneNumberVerified = "phone_number_verified"
    case payerID = "payer_id", accountType = "account_type", verifiedAccount = "verified_account"

    /// PayPal's own scope for the last three.
    package static var payPalAttributesScope: String { ClaimScope.payPalAttributes.rawValue }

    /// By its length, which tells nearly all apart: Swift would hash the whole text for each look-up.
    package func hash(into hasher: inout Hasher) { hasher.combine(rawValue.utf8.count) }

    package var scope: String { claimScope.rawValue }

    var claimScope: ClaimScope {
        switch self {
        case .sub: .openid
        case .email, .emailVerified: .email
        case .phoneNumber, .phoneNumberVerified: .phone
        case .payerID, .accountType, .verifiedAccount: .payPalAttributes
        default: .profile
        }
    }
}

/// A scope that covers attributes (OpenID Connect Core, section 5.4).
enum ClaimScope: String, CaseIterable {
    case openid, profile, email, phone, address
    /// PayPal's own.
    case payPalAttributes = "https://uri.paypal.com/services/paypalattributes"
}

/// One part of the `address` claim (OpenID Connect Core, section 5.1.1).
package enum AddressPart: String, Sendable, CaseIterable {
    case formatted, streetAddress = "street_address", locality, region, postalCode = "postal_code", country

    /// By its length, which tells nearly all apart: Swift would hash the whole text for each look-up.
    package func hash(into hasher: inout Hasher) { hasher.combine(rawValue.utf8.count) }
}
