// SPDX-License-Identifier: Apache-2.0

/// A synthetic person with an account at the simulated provider; nobody real.
package struct Person: Sendable, Equatable {
    /// How codes name this person.
    package let name: String
    package let givenName: String
    package let familyName: String
    package var email: String
    package var isEmailVerified = true
    /// As the person typed it; nil where none was given.
    package var phoneNumber: String?
    package var address: PostalAddress?
    package var locale = "en_US"
    package var zoneInfo = "America/Los_Angeles"
    package var birthdate: String?

    package init(name: String, givenName: String, familyName: String, phoneNumber: String?, address: PostalAddress?) {
        self.name = name
        self.givenName = givenName
        self.familyName = familyName
        self.email = name + "@example.test"
        self.phoneNumber = phoneNumber
        self.address = address
    }

    /// The provider's identifier for the person, as PayPal writes it.
    package var userID: String { "https://www.paypal.com/webapps/auth/identity/user/" + Self.letters(of: name, 43) }
    package var payerID: String { String(Self.letters(of: "payer " + name, 13).uppercased()) }

    /// Letters and digits that follow from the name: the same person has the same identifiers in every run (FNV-1a,
    /// then a linear step for each letter; it hides nothing and need not).
    private static func letters(of name: String, _ count: Int) -> String {
        var state: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in name.utf8 { state = (state ^ UInt64(byte)) &* 0x100_0000_01B3 }
        let alphabet = Array("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789".utf8)
        let bytes = (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return alphabet[Int((state >> 33) % UInt64(alphabet.count))]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

package struct PostalAddress: Sendable, Equatable {
    package let street: String
    package let locality: String
    package let region: String
    package let postalCode: String
    package let country: String

    package init(street: String, locality: String, region: String, postalCode: String, country: String) {
        self.street = street
        self.locality = locality
        self.region = region
        self.postalCode = postalCode
        self.country = country
    }
}
