// SPDX-License-Identifier: Apache-2.0
import Consents

/// The client's secrets while one is being changed: in the configured order, but the one that worked last goes first.
struct SecretsInOrder: Sendable {
    /// A way to show who the client is.
    struct Candidate: Sendable {
        let builder: RequestBuilder
        fileprivate let number: Int
        fileprivate let round: UInt64
    }

    private let builders: [RequestBuilder]
    private var first = 0
    /// Which set of secrets it is: what an older set has shown to work tells nothing of this one.
    private let round: UInt64

    init(_ definition: ProviderDefinition, round: UInt64 = 0) {
        builders = definition.authentications.map { RequestBuilder(definition, $0) }
        self.round = round
    }

    /// The next set, from a configuration that was read again.
    func replaced(by definition: ProviderDefinition) -> SecretsInOrder {
        SecretsInOrder(definition, round: round &+ 1)
    }

    /// In the order in which they are to be tried; never empty.
    var candidates: [Candidate] {
        var candidates = [candidate(first)]
        for number in builders.indices where number != first { candidates.append(candidate(number)) }
        return candidates
    }

    private func candidate(_ number: Int) -> Candidate {
        Candidate(builder: builders[number], number: number, round: round)
    }

    var preferred: RequestBuilder { builders[first] }

    mutating func prefer(_ candidate: Candidate) {
        if candidate.round == round { first = candidate.number }
    }
}

extension ProviderStatement {
    /// Whether the provider refused the secret itself, and so took nothing (RFC 6749, section 5.2). A bare 401 may mean
    /// anything: what it was an answer to is not sent a second time.
    var refusesSecretByName: Bool {
        guard let error else { return false }
        return error.isSameASCII(as: "invalid_client") || error.isSameASCII(as: "unauthorized_client")
    }
}
