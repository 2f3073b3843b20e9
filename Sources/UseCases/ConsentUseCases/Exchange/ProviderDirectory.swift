// SPDX-License-Identifier: Apache-2.0
package import Consents

extension ProviderFacts {
    /// Whether this client gave the record's grant. A token of another registration, environment or token endpoint is not
    /// sent here: the name may be another server's by now.
    func hasIssued(_ record: ConsentRecord) -> Bool { issuer == record.issuer && key == record.provider }
    func hasIssued(_ grant: RefreshableGrant) -> Bool { issuer == grant.issuer && key == grant.provider }
    func hasIssued(_ grant: KeptGrant) -> Bool { issuer == grant.issuer && key == grant.provider }
}

/// The configured providers and notices, and the checks of a request against them.
package final class ProviderDirectory: Sendable {
    private let connections: [String: any ProviderConnection]
    private let notices: [String]

    /// - Parameter notices: each as `ID@VERSION`.
    package init(_ connections: [any ProviderConnection], notices: [String]) {
        self.connections = Dictionary(connections.map { ($0.facts.key.name, $0) }) { first, _ in first }
        self.notices = notices
    }

    package var all: [any ProviderConnection] {
        connections.values.sorted { $0.facts.key.name < $1.facts.key.name }
    }

    package func connection(named name: String) -> (any ProviderConnection)? { connections[name] }

    /// The provider that a request means.
    ///
    /// - Throws: `unknownProvider`, also where no name is given and not exactly one PayPal provider has the SDK
    ///   response's environment; `environmentMismatch` where the named one has another.
    package func provider(named name: String?, environment hint: String?) throws(ConsentFailure)
        -> any ProviderConnection
    {
        let environment = hint.map { $0.lowercased() == "production" ? "live" : $0.lowercased() }
        guard let name else {
            let fitting = all.filter { $0.facts.isPayPal && $0.facts.key.environment == environment }
            if fitting.count == 1, environment != nil { return fitting[0] }
            let payPal = all.filter { $0.facts.isPayPal }
            if payPal.count == 1, let hint {
                throw .environmentMismatch(provider: payPal[0].facts.key.environment, response: hint)
            }
            throw .unknownProvider
        }
        guard let found = connections[name] else { throw .unknownProvider }
        if let hint, environment != found.facts.key.environment {
            throw .environmentMismatch(provider: found.facts.key.environment, response: hint)
        }
        return found
    }

    /// What may go out with a code: the caller's redirect URI if it is allowed, else the configured one.
    func parameters(of request: borrowing ExchangeRequest, at facts: ProviderFacts) throws(ConsentFailure)
        -> ExchangeParameters
    {
        var parameters = request.parameters
        if parameters.isSDKCode {
            // The SDK's form stands for a code without PKCE, nonce and ID token: whoever could choose it at another
            // provider would choose to be looked at less closely.
            guard facts.isPayPal else {
                throw .environmentMismatch(
                    provider: facts.key.environment, response: request.environmentHint ?? "(none)")
            }
            return parameters
        }
        if let given = parameters.redirectURI {
            let allowed = facts.allowedRedirectURIs + [facts.redirectURI].compactMap(\.self)
            guard allowed.contains(where: { $0.utf8.elementsEqual(given.utf8) }) else { throw .redirectURINotAllowed }
        } else {
            parameters.redirectURI = facts.redirectURI
        }
        if facts.isPKCERequired, parameters.codeVerifier == nil { throw .proofKeyRequired }
        if facts.isNonceRequired, request.nonce == nil { throw .nonceRequired }
        // One that is given must match, and here no ID token is looked at: better refused than taken for a proof.
        if request.nonce != nil, facts.identity.idToken == .ignored { throw .nonceUnchecked }
        return parameters
    }

    /// The notice that a record names: the request's, or the only configured one, marked as assumed.
    func notice(named name: String?) throws(ConsentFailure) -> NoticeReference? {
        if let name {
            guard notices.contains(name) else { throw .unknownNotice }
            return NoticeReference(text: name, isAssumed: false)
        }
        return notices.count == 1 ? NoticeReference(text: notices[0], isAssumed: true) : nil
    }
}
