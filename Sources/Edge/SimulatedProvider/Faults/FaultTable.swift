// SPDX-License-Identifier: Apache-2.0

/// One kind of fault. A new one is a new row of `FaultTable`.
struct FaultRow: Sendable {
    let name: String
    /// What happens, in one sentence.
    let sentence: String
    /// The number where none is given; nil for a fault that takes none.
    let number: Double?
    /// Where it strikes when it is set for everybody and no place is named.
    let places: Set<FaultPlace>
    let effect: @Sendable (_ number: Double) -> FaultEffect
}

/// What a fault does to one call.
struct FaultEffect: Sendable {
    /// What the client gets in the end.
    enum End: Sendable {
        /// The answer that it would have got.
        case answer
        case instead(SimulatedAnswer)
        /// The provider's refusal, in the words of the endpoint's dialect.
        case refuse(Refusal)
        /// No byte: the connection is closed.
        case hangUp
    }

    /// Whether the call has its effect: the code is spent, the token rotated.
    let isProcessed: Bool
    /// The time between the effect and the end.
    var delay = Duration.zero
    let end: End
}

/// Every fault there is.
package enum FaultTable {
    static let rows: [FaultRow] = [
        FaultRow(
            name: "slow", sentence: "The call has its effect at once; the answer comes after NUMBER seconds (5).",
            number: 5, places: [.exchange, .refresh, .userinfo]
        ) { FaultEffect(isProcessed: true, delay: .milliseconds(Int64($0 * 1000)), end: .answer) },
        FaultRow(
            name: "cut_off",
            sentence: "The call has its effect (the code is spent), then the connection closes without an answer.",
            number: nil, places: [.exchange, .refresh, .userinfo]
        ) { _ in FaultEffect(isProcessed: true, end: .hangUp) },
        FaultRow(
            name: "throttled",
            sentence: "429 with RATE_LIMIT_REACHED and a Retry-After of NUMBER seconds (5); the call has no effect.",
            number: 5, places: [.exchange, .refresh, .userinfo]
        ) { FaultEffect(isProcessed: false, end: .instead(.throttled(retryAfter: Int($0.rounded(.up))))) },
        FaultRow(
            name: "unavailable", sentence: "503 Service Unavailable; the call has no effect.", number: nil,
            places: [.exchange, .refresh, .userinfo, .revoke, .metadata]
        ) { _ in FaultEffect(isProcessed: false, end: .instead(.unavailable)) },
        FaultRow(
            name: "html",
            sentence: "200 with a firewall's HTML page that calls itself JSON; the call has no effect.", number: nil,
            places: [.exchange, .refresh, .userinfo]
        ) { _ in FaultEffect(isProcessed: false, end: .instead(.blockedPage)) },
        FaultRow(
            name: "dead_code", sentence: "The code is refused as PayPal refuses a used, late or forged one.",
            number: nil, places: [.exchange]
        ) { _ in FaultEffect(isProcessed: false, end: .refuse(.codeDead)) },
    ]

    static func row(_ name: String) -> FaultRow? { rows.first { $0.name == name } }

    /// What `simulate --list-faults` prints: a line for each fault, then how to ask for one.
    package static var text: String {
        let width = (rows.map(\.name.count).max() ?? 0) + 2
        let lines = rows.map { row in
            row.name + String(repeating: " ", count: width - row.name.count) + row.sentence + "\n"
        }
        let places = FaultPlace.allCases.map(\.rawValue).joined(separator: ", ")
        return lines.joined()
            + """

            Written NAME, NAME=NUMBER or NAME=NUMBER@PLACE+PLACE, with the places \(places).
            For everybody: simulate --fault slow=3. For one code: send the code fault:slow=3:TEXT.

            """
    }

    /// The names and sentences, in the order of the table.
    package static var list: [(name: String, sentence: String)] { rows.map { ($0.name, $0.sentence) } }
}
