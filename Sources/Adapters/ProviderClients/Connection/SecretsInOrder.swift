// SPDX-License-Identifier: Apache-2.0
package import Consents

/// What all processes of a store know of a client's secrets: which of them worked last.
package struct SecretOrder: Sendable {
    /// How the store knows a secret.
    let digest: @Sendable (SecretText) -> BlindIndex
    /// Which one worked last; nil where none is known, or the store does not say.
    let first: @Sendable () async -> BlindIndex?

    package init(
        digest: @escaping @Sendable (SecretText) -> BlindIndex, first: @escaping @Sendable () async -> BlindIndex?
    ) {
        self.digest = digest
        self.first = first
    }
}

/// The client's secrets while one is being changed: in the configured order, but the one that worked last goes first.
struct SecretsInOrder: Sendable {
    /// A way to show who the client is.
    struct Candidate: Sendable {
        let builder: RequestBuilder
        fileprivate let number: Int
        fileprivate let round: UInt64
    }

    private let builders: [RequestBuilder]
    /// Nil for a client without one.
    private let secrets: [SecretText?]
    private var first = 0
    /// Whether another secret has worked than the one that was to go first, and the store has not been told.
    private var hasNews = false
    /// Which set of secrets it is: what an older set has shown to work tells nothing of this one.
    private let round: UInt64

    init(_ definition: ProviderDefinition, round: UInt64 = 0) {
        builders = definition.authentications.map { RequestBuilder(definition, $0) }
        secrets = definition.authentications.map(\.secret)
        self.round = round
    }

    /// The next set, from a configuration that was read again.
    func replaced(by definition: ProviderDefinition) -> SecretsInOrder {
        SecretsInOrder(definition, round: round &+ 1)
    }

    /// Whether another process may know better which one goes first.
    var areInQuestion: Bool { builders.count > 1 && !hasNews }

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

    /// One that has worked goes first from now on.
    mutating func prefer(_ candidate: Candidate) {
        guard candidate.round == round, candidate.number != first else { return }
        first = candidate.number
        hasNews = true
    }

    /// Another process has told which one works. A secret that is not among these, or news of one's own, keeps the order.
    mutating func follow(_ told: BlindIndex, _ digest: (SecretText) -> BlindIndex) {
        guard !hasNews, let number = secrets.firstIndex(where: { $0.map(digest) == told }) else { return }
        first = number
    }

    /// The secret that the store is to be told of, once.
    mutating func takeNews() -> SecretText? {
        guard hasNews else { return nil }
        hasNews = false
        return secrets[first]
    }
}

extension ClientAuthentication {
    /// Nil for a client without one.
    fileprivate var secret: SecretText? {
        switch self {
        case .basic(let secret, _), .post(let secret): secret
        case .assertion, .certificate, .none: nil
        }
    }
}

extension RevocationOutcome {
    /// Whether the provider refused our credentials, and so revoked nothing (RFC 6749, section 5.2; RFC 7009, section
    /// 2.2.1): by name, or with a 401 or 403 that names nothing.
    var refusesCredentials: Bool {
        guard case .failed(let statement, _) = self else { return false }
        guard let error = statement.error else { return statement.status == 401 || statement.status == 403 }
        return error.isSameASCII(as: "invalid_client") || error.isSameASCII(as: "unauthorized_client")
    }
}
