// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Consents

/// What a token endpoint's answer to a code that cannot be valid tells of it, and of the secret that went with the code.
struct ProviderVerdict: Sendable {
    private let outcome: TokenOutcome
    private let endpoint: String
    /// What the line begins with, where there are several secrets; never a secret itself.
    private let secret: String

    init(_ outcome: TokenOutcome, endpoint: String, secret: String) {
        self.outcome = outcome
        self.endpoint = endpoint
        self.secret = secret
    }

    /// Whether the provider has looked at the code, which it does for a client that it knows.
    var takesCredentials: Bool {
        if case .rejected = outcome { true } else { false }
    }

    /// - Parameter isAnotherTaken: whether another secret of the same client works.
    func finding(isAnotherTaken: Bool) -> CheckFinding {
        let asked = "\(secret)token endpoint: \(endpoint) was reached"
        switch outcome {
        case .rejected(let statement):
            return CheckFinding(
                .ok, "\(asked), takes the client's credentials and refuses the code, as it must\(said(statement))")
        case .credentialsRefused(let statement):
            return CheckFinding(
                isAnotherTaken ? .warning : .error,
                "\(asked) and refuses the client's credentials\(said(statement))")
        case .requestRefused(let statement):
            return CheckFinding(
                .error, "\(asked) and refuses the request as such, before it looks at the code\(said(statement))")
        case .throttled(let statement, _):
            return CheckFinding(.warning, "\(asked) but takes no requests now\(said(statement))")
        case .notSent(let reason):
            return CheckFinding(.error, "\(secret)token endpoint: \(endpoint) was not reached (\(reason.rawValue))")
        case .unknown(let reason, let statement):
            return CheckFinding(
                .error, "\(secret)token endpoint: \(endpoint): no clear answer (\(reason.rawValue))\(said(statement))")
        case .unreadable(_, let statement):
            return CheckFinding(.error, "\(asked), but its answer cannot be read\(said(statement))")
        case .granted:
            return CheckFinding(
                .error, "\(asked) and gave tokens for a code that cannot be valid; they were thrown away")
        }
    }

    private func said(_ statement: ProviderStatement) -> String { ProviderVerdict.said(statement) }

    /// The provider's own words, after a colon; empty where it said nothing.
    static func said(_ statement: ProviderStatement) -> String {
        guard statement.status != 0 else { return "" }
        let parts = [String(statement.status), statement.error, statement.errorDescription].compactMap(\.self)
        return ": " + parts.joined(separator: " ")
    }
}
