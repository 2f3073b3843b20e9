// SPDX-License-Identifier: Apache-2.0

/// Everybody who can consent at the simulated provider.
package enum People {
    /// Whose consent a code stands for that names nobody.
    package static let first = Person(
        name: "alice", givenName: "Alice", familyName: "Example", phoneNumber: "4082560980",
        address: PostalAddress(
            street: "2211 North First Street", locality: "San Jose", region: "CA", postalCode: "95131", country: "US"))

    /// People who differ in what they gave.
    package static let known: [String: Person] = Dictionary(
        uniqueKeysWithValues: [first, bob, carla, dmitri, emre].map { ($0.name, $0) })

    /// The person of that name: a known one, else one made of the name.
    package static func named(_ name: String) -> Person {
        known[name]
            ?? Person(
                name: name, givenName: "Person", familyName: name, phoneNumber: "+1 555 0100",
                address: PostalAddress(
                    street: "1 Test Street", locality: "Testville", region: "CA", postalCode: "90000", country: "US"))
    }

    /// Gave no telephone number, and has not confirmed the address of the letters.
    private static let bob = {
        var bob = Person(
            name: "bob", givenName: "Bob", familyName: "Sample", phoneNumber: nil,
            address: PostalAddress(
                street: "Beispielweg 7", locality: "Kleinmachnow", region: "Brandenburg", postalCode: "14532",
                country: "DE"))
        bob.isEmailVerified = false
        bob.locale = "de_DE"
        bob.zoneInfo = "Europe/Berlin"
        return bob
    }()

    /// Gave no postal address.
    private static let carla = {
        var carla = Person(
            name: "carla", givenName: "Carla", familyName: "Muster", phoneNumber: "+39 06 5550199;ext=5", address: nil)
        carla.birthdate = "1980-02-29"
        carla.locale = "it_IT"
        carla.zoneInfo = "Europe/Rome"
        return carla
    }()

    /// Has letters of another alphabet in every field.
    private static let dmitri = Person(
        name: "dmitri", givenName: "Дмитрий", familyName: "Примеров-Ёлкин", phoneNumber: "+7 495 555-01-23",
        address: PostalAddress(
            street: "ул. Образцовая, д. 1, кв. «2»", locality: "Москва", region: "Москва", postalCode: "101000",
            country: "RU"))

    /// Has combining marks, quotes and a character outside the basic plane.
    private static let emre = Person(
        name: "emre", givenName: "Emre \"Q\" I\u{0307}", familyName: "O'Örnek \u{1F33B}\\",
        phoneNumber: "0212 555 01 00",
        address: PostalAddress(
            street: "Örnek Sokak 3/4\nKat 2", locality: "İstanbul", region: "Marmara", postalCode: "34000",
            country: "TR"))
}
