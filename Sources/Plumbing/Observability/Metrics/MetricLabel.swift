// SPDX-License-Identifier: Apache-2.0

/// What a number can be told by. Subjects, consents, callers, addresses and tokens have no label, and get none.
package enum MetricLabel: Sendable, CaseIterable {
    case route, method, status, code, listener, provider, call, callOutcome, document, fetchOutcome, flight, blockReason
    case writeOutcome, version

    /// As it stands on the page.
    package var name: String {
        switch self {
        case .route: "route"
        case .method: "method"
        case .status: "status"
        case .code: "code"
        case .listener: "listener"
        case .provider: "provider"
        case .call: "call"
        case .document: "document"
        case .callOutcome, .fetchOutcome, .writeOutcome: "outcome"
        case .flight: "kind"
        case .blockReason: "reason"
        case .version: "version"
        }
    }
}

/// The values that labels may have; every other value is told as `other`. Given once, so that no request, provider or
/// person can make a new series.
package struct MetricWords: Sendable {
    /// What stands for every value that was not declared.
    package static let other = "other"

    private let words: [MetricLabel: [String]]

    /// - Parameters:
    ///   - routes: patterns, not paths.
    ///   - codes: of problem documents.
    ///   - providers: the configured names.
    ///   - version: of the program.
    package init(routes: [String], codes: [String], providers: [String], version: String) {
        var words: [MetricLabel: [String]] = [
            .route: routes, .code: codes, .provider: providers, .version: [version],
        ]
        for label in MetricLabel.allCases where words[label] == nil { words[label] = MetricWords.fixed(label) }
        self.words = words
    }

    /// The values of a label that are the same in every configuration; none for one that is given its values.
    static func fixed(_ label: MetricLabel) -> [String] {
        switch label {
        case .route, .code, .provider, .version: []
        case .method: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
        case .status:
            [
                "200", "201", "204", "400", "401", "403", "404", "405", "406", "408", "409", "410", "413", "415",
                "422", "424", "429", "431", "500", "502", "503", "504",
            ]
        case .listener: MetricListener.allCases.map(\.rawValue)
        case .call: ProviderCall.allCases.map(\.rawValue)
        case .callOutcome: ProviderCallOutcome.allCases.map(\.rawValue)
        case .document: IssuerDocument.allCases.map(\.rawValue)
        case .fetchOutcome: FetchOutcome.allCases.map(\.rawValue)
        case .flight: MetricFlight.allCases.map(\.rawValue)
        case .blockReason: MetricBlock.allCases.map(\.rawValue)
        case .writeOutcome: StoreWriteOutcome.allCases.map(\.rawValue)
        }
    }

    /// What the label can read, `other` last.
    func values(of label: MetricLabel) -> [String] {
        var seen: Set<String> = [MetricWords.other]
        return (words[label] ?? []).filter { seen.insert($0).inserted } + [MetricWords.other]
    }
}

/// The two listeners.
package enum MetricListener: String, Sendable, CaseIterable { case api, admin }

/// What is on its way to a provider and to the store.
package enum MetricFlight: String, Sendable, CaseIterable { case exchange, refresh }

/// What keeps calls from a provider.
package enum MetricBlock: String, Sendable, CaseIterable { case gate, breaker, pause, brake }

/// The calls that a provider answers.
package enum ProviderCall: String, Sendable, CaseIterable { case exchange, refresh, userinfo, revoke }

/// What a call to a provider came to, in few words.
package enum ProviderCallOutcome: String, Sendable, CaseIterable {
    case granted, fetched, revoked, rejected, refused, throttled, unknown, unreadable, unsupported, failed
    case credentialsRefused = "credentials_refused"
    case requestRefused = "request_refused"
    case notSent = "not_sent"

    /// By its length, which tells nearly all apart: Swift would hash the whole text for each look-up.
    package func hash(into hasher: inout Hasher) { hasher.combine(rawValue.utf8.count) }
}

/// What is fetched of an issuer.
package enum IssuerDocument: String, Sendable, CaseIterable { case discovery, keys }

/// What a fetch brought.
package enum FetchOutcome: String, Sendable, CaseIterable {
    /// A document that is used from now on.
    case fetched
    /// None, or none that can be used: what was held stays.
    case failed
}

/// What the store made of a write.
package enum StoreWriteOutcome: String, Sendable, CaseIterable {
    /// Synced to disk.
    case written
    /// Taken back by an error of its own, or of its batch.
    case failed
    /// Not begun: too many waited, or the store was locked, replaced or closing.
    case refused
}
