// SPDX-License-Identifier: Apache-2.0

/// A fault by name, with its number and the places that it strikes: `NAME[=NUMBER][@PLACE[+PLACE…]]`, as in
/// `slow=3@exchange+refresh`.
package struct Fault: Sendable, Equatable, CustomStringConvertible {
    let row: FaultRow
    package let number: Double
    package let places: Set<FaultPlace>
    /// The text that it was made of.
    package let description: String

    package var name: String { row.name }

    /// How it was asked for; it decides where it strikes when no place is named.
    package enum Asked: Sendable {
        /// For everybody: each place that the fault is known for.
        case globally
        /// By a code's own text: the exchange of that code, or where else the fault is known for.
        case byCode
    }

    /// - Throws: `FaultError` for an unknown name or place, or a number that is none or has no place there.
    package init(_ text: String, asked: Asked) throws(FaultError) {
        let (head, placeText) = Self.split(text, at: "@")
        let (name, numberText) = Self.split(head, at: "=")
        guard let row = FaultTable.row(name) else { throw .unknownFault(name) }
        self.row = row
        description = text
        number = try Self.number(numberText, of: row)
        guard let placeText else {
            places = asked == .byCode && row.places.contains(.exchange) ? [.exchange] : row.places
            return
        }
        var places: Set<FaultPlace> = []
        for part in placeText.split(separator: "+", omittingEmptySubsequences: false) {
            guard let place = FaultPlace(rawValue: String(part)) else { throw .unknownPlace(String(part)) }
            guard row.places.contains(place) else { throw .notThere(name, place) }
            places.insert(place)
        }
        self.places = places
    }

    private static func number(_ text: String?, of row: FaultRow) throws(FaultError) -> Double {
        guard let text else { return row.number ?? 0 }
        guard row.number != nil, let number = Double(text), (0...100_000_000).contains(number) else {
            throw .badNumber(row.name)
        }
        return number
    }

    private static func split(_ text: String, at mark: Character) -> (String, String?) {
        guard let index = text.firstIndex(of: mark) else { return (text, nil) }
        return (String(text[..<index]), String(text[text.index(after: index)...]))
    }

    package static func == (left: Fault, right: Fault) -> Bool { left.description == right.description }
}

/// What a fault can strike.
package enum FaultPlace: String, Sendable, CaseIterable {
    /// The token endpoint with a code.
    case exchange
    /// The token endpoint with a refresh token.
    case refresh
    case userinfo
    case revoke
    case discovery
    /// The key set.
    case keys = "jwks"
    /// The authorization page.
    case authorize
}

/// Why a text names no fault.
package enum FaultError: Error, Sendable, Equatable, CustomStringConvertible {
    case unknownFault(String)
    case unknownPlace(String)
    /// The fault strikes other places only.
    case notThere(String, FaultPlace)
    /// The number is none from 0 to 100,000,000, or the fault takes none; with the fault's name.
    case badNumber(String)

    package var description: String {
        switch self {
        case .unknownFault(let name): "there is no fault \"\(name)\"; simulate --list-faults names them"
        case .unknownPlace(let name):
            "there is no place \"\(name)\" for a fault, only \(FaultPlace.allCases.map(\.rawValue).joined(separator: ", "))"
        case .notThere(let name, let place): "the fault \"\(name)\" does not strike \(place.rawValue)"
        case .badNumber(let name): "the fault \"\(name)\" takes no such number"
        }
    }
}
