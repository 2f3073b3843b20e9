// SPDX-License-Identifier: Apache-2.0

/// What one call showed of its provider, not of its grant (refresh.md, *What an outcome means*).
package enum HealthEvent: Sendable, Equatable {
    /// Tokens came.
    case succeeded(HealthWitness)
    /// The provider's own word that a grant is gone.
    case declaredDead(HealthWitness)
    /// A code was looked at and refused: the provider is there, and takes our credentials.
    case codeRefused
    /// The request as such was refused: the provider is there.
    case requestRefused
    /// Not processed, and nobody may ask before the delay is over; nil where the provider told none.
    case throttled(retryAfter: Duration?)
    /// No byte left: no name, no connection, no TLS.
    case unreachable
    /// Nobody knows what became of it.
    /// - Parameter costsGrants: whether sending the same again may end the grant.
    case unknown(costsGrants: Bool)
    /// A process ended with a refresh on the wire, and nobody knows what became of it. That may cost a grant as any
    /// unknown outcome does, and tells nothing bad of the provider: the first trial waits for nothing.
    case abandoned
    /// Our credentials were refused, after all secrets were tried.
    /// - Parameter isByName: as `invalid_client` or `unauthorized_client`; else a bare 401 or 403.
    case credentialsRefused(HealthWitness, isByName: Bool)
    /// Nothing was sent, and nothing is known of the provider.
    case nothing

    /// Whether a provider whose calls have shown nothing is as it was after it.
    package var tellsNothingNew: Bool {
        switch self {
        case .succeeded, .codeRefused, .requestRefused, .unknown(costsGrants: false), .nothing: true
        case .declaredDead, .throttled, .unreachable, .unknown(costsGrants: true), .abandoned, .credentialsRefused:
            false
        }
    }
}

/// By whose grant or code something showed; a code is no grant yet, so its subject stands for it.
package enum HealthWitness: Sendable, Hashable {
    case grant(ConsentID)
    case subject(BlindIndex)

    package var isGrant: Bool {
        if case .grant = self { true } else { false }
    }

    /// Hexadecimal digits; of a subject's digest as many as tell two apart.
    package var text: String {
        switch self {
        case .grant(let id): id.uuid.hexadecimal
        case .subject(let index): Hexadecimal.text(of: Array(index.bytes.prefix(16)))
        }
    }
}

extension ProviderStatement {
    fileprivate var isOfUnauthorizedClient: Bool { error?.lowercased() == "unauthorized_client" }
}

extension HealthEvent {
    /// What a call's outcome shows of the provider.
    /// - Parameters:
    ///   - witness: the grant that was sent, or the subject of the code.
    ///   - reuse: what the provider does when an old refresh token comes back.
    package init(after outcome: TokenOutcome, of witness: HealthWitness, reuse: RefreshPolicy.Reuse) {
        switch outcome {
        case .granted: self = .succeeded(witness)
        case .rejected: self = witness.isGrant ? .declaredDead(witness) : .codeRefused
        // `unauthorized_client` is also said of a code that was given to another client or redirect URI: whoever brings
        // such codes must not close the provider to everybody.
        case .credentialsRefused(let statement) where !witness.isGrant && statement.isOfUnauthorizedClient:
            self = .requestRefused
        case .credentialsRefused(let statement):
            self = .credentialsRefused(witness, isByName: statement.error != nil)
        case .requestRefused: self = .requestRefused
        case .throttled(_, let delay): self = .throttled(retryAfter: delay)
        case .notSent(.fenced), .notSent(.stopped), .notSent(.configuration): self = .nothing
        case .notSent: self = .unreachable
        // What a junk code can bring about must not touch anybody else.
        case .unknown, .unreadable: self = .unknown(costsGrants: witness.isGrant && reuse == .forbidden)
        }
    }
}
