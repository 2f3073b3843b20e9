// SPDX-License-Identifier: Apache-2.0
import NativeHTTPServer

/// One kind of fault. A new one is a new row in one of the files in `Rows`.
struct FaultRow: Sendable {
    let name: String
    /// What happens, in one sentence.
    let sentence: String
    /// The number where none is given; nil for a fault that takes none.
    let number: Double?
    /// What it can strike. Set for everybody and without a place it strikes all of them; asked for by a code, the
    /// exchange, where it can.
    let places: Set<FaultPlace>
    let effect: @Sendable (FaultStrike) -> FaultEffect
}

/// Faults of one kind.
struct FaultGroup: Sendable {
    let title: String
    let rows: [FaultRow]
}

/// A fault as people read of it.
package struct FaultDescription: Sendable, Equatable {
    package let name: String
    package let sentence: String
    /// The title of its group.
    package let group: String
    /// In the order in which a grant meets them.
    package let places: [FaultPlace]
    /// The number where none is given, as it stands in the sentence; nil for a fault that takes none.
    package let number: String?
}

/// Every fault there is.
package enum FaultTable {
    static let groups = [
        FaultGroup(title: "Token answers of an odd shape", rows: tokenMemberRows + lifetimeRows + scopeRows),
        FaultGroup(title: "Odd members and odd bytes around a token answer", rows: documentRows),
        FaultGroup(title: "Answers in another form", rows: encodingRows),
        FaultGroup(title: "Answers of success that cannot be read", rows: unreadableRows),
        FaultGroup(title: "Refused codes and tokens", rows: deadRows),
        FaultGroup(title: "Refused clients and requests", rows: refusedRows),
        FaultGroup(title: "Trouble at the provider", rows: troubleRows),
        FaultGroup(title: "Trouble on the wire", rows: wireRows),
        FaultGroup(title: "Profiles", rows: profileRows),
        FaultGroup(title: "ID tokens", rows: idTokenRows),
        FaultGroup(title: "Signatures and keys of ID tokens", rows: idTokenKeyRows),
        FaultGroup(title: "Discovery and key sets", rows: keySetRows),
        FaultGroup(title: "Revocation", rows: revocationRows),
    ]

    private static let byName: [String: FaultRow] = Dictionary(
        groups.flatMap(\.rows).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })

    static func row(_ name: String) -> FaultRow? { byName[name] }

    /// All of them, in the order of the table.
    package static var list: [FaultDescription] {
        groups.flatMap { group in
            group.rows.map { row in
                FaultDescription(
                    name: row.name, sentence: row.sentence, group: group.title,
                    places: FaultPlace.allCases.filter(row.places.contains),
                    number: row.number.map { String(Int($0)) })
            }
        }
    }
}

extension Set<FaultPlace> {
    static let tokens: Set<FaultPlace> = [.exchange, .refresh]
    static let calls: Set<FaultPlace> = [.exchange, .refresh, .userinfo]
    static let callsAndRevocation: Set<FaultPlace> = [.exchange, .refresh, .userinfo, .revoke]
}

extension FaultRow {
    /// A fault that bends an answer of success.
    static func bend(
        _ name: String, _ sentence: String, number: Double? = nil, at places: Set<FaultPlace> = .tokens,
        _ bend: @escaping @Sendable (inout SimulatedAnswer, FaultStrike) -> Void
    ) -> FaultRow {
        FaultRow(name: name, sentence: sentence, number: number, places: places) { strike in
            FaultEffect(end: .bent { bend(&$0, strike) })
        }
    }

    /// A fault that changes the members of an answer of success.
    static func members(
        _ name: String, _ sentence: String, number: Double? = nil, at places: Set<FaultPlace> = .tokens,
        _ change: @escaping @Sendable (inout AnswerMembers, FaultStrike) -> Void
    ) -> FaultRow {
        bend(name, sentence, number: number, at: places) { answer, strike in answer.change { change(&$0, strike) } }
    }

    /// A fault with an answer of its own; the call has no effect.
    static func instead(
        _ name: String, _ sentence: String, number: Double? = nil, at places: Set<FaultPlace> = .calls,
        _ answer: @escaping @Sendable (FaultStrike) -> SimulatedAnswer
    ) -> FaultRow {
        FaultRow(name: name, sentence: sentence, number: number, places: places) { strike in
            FaultEffect(isProcessed: false, end: .instead(answer(strike)))
        }
    }

    /// An error by its name, with the number as its status; the call has no effect.
    static func complain(
        _ name: String, _ sentence: String, status: Double, error: String, _ description: String?,
        at places: Set<FaultPlace> = .tokens
    ) -> FaultRow {
        FaultRow(name: name, sentence: sentence, number: status, places: places) { strike in
            FaultEffect(
                isProcessed: false, end: .complain(status: strike.status, error: error, description: description))
        }
    }

    /// A fault on the wire; the call has its effect.
    static func wire(
        _ name: String, _ sentence: String, number: Double? = nil, at places: Set<FaultPlace> = .callsAndRevocation,
        _ raw: @escaping @Sendable (SimulatedAnswer, FaultStrike) -> RawAnswer
    ) -> FaultRow {
        FaultRow(name: name, sentence: sentence, number: number, places: places) { strike in
            FaultEffect(end: .raw { raw($0, strike) })
        }
    }
}

extension FaultStrike {
    /// The number as a status that an answer can have.
    var status: Int { min(max(count, 200), 599) }
}
