// SPDX-License-Identifier: Apache-2.0
import Consents
import Observability

/// What a call came to, in the words of log lines and metrics.
struct MeasuredOutcome {
    var outcome: ProviderCallOutcome
    /// Why a request did not leave, or why nobody knows what became of it.
    var reason: String?
    var statement: ProviderStatement?

    init(_ outcome: ProviderCallOutcome, reason: String? = nil, _ statement: ProviderStatement? = nil) {
        self.outcome = outcome
        self.reason = reason
        self.statement = statement
    }

    /// The HTTP status of a refusal; nil where no answer came, and for a success, whose outcome has none.
    var status: Int? { statement.flatMap { $0.status > 0 ? $0.status : nil } }
}

extension ProviderCallOutcome {
    /// Whether nobody has to look: what an attacker, or a person who changed their mind, can bring about.
    var isOrdinary: Bool {
        switch self {
        case .granted, .fetched, .revoked, .rejected, .unsupported: true
        case .refused, .throttled, .unknown, .unreadable, .failed, .credentialsRefused, .requestRefused, .notSent:
            false
        }
    }
}

extension TokenOutcome {
    var measured: MeasuredOutcome {
        switch self {
        case .granted: MeasuredOutcome(.granted)
        case .rejected(let statement): MeasuredOutcome(.rejected, statement)
        case .credentialsRefused(let statement): MeasuredOutcome(.credentialsRefused, statement)
        case .requestRefused(let statement): MeasuredOutcome(.requestRefused, statement)
        case .throttled(let statement, _): MeasuredOutcome(.throttled, statement)
        case .notSent(let reason): MeasuredOutcome(.notSent, reason: reason.rawValue)
        case .unknown(let reason, let statement): MeasuredOutcome(.unknown, reason: reason.rawValue, statement)
        case .unreadable(_, let statement): MeasuredOutcome(.unreadable, statement)
        }
    }
}

extension RevocationOutcome {
    var measured: MeasuredOutcome {
        switch self {
        case .revoked: MeasuredOutcome(.revoked)
        case .unsupported: MeasuredOutcome(.unsupported)
        case .refused(let statement): MeasuredOutcome(.refused, statement)
        case .failed(let statement, _): MeasuredOutcome(.failed, statement)
        }
    }
}

extension ProfileOutcome {
    var measured: MeasuredOutcome {
        switch self {
        case .fetched: MeasuredOutcome(.fetched)
        case .refused(let statement): MeasuredOutcome(.refused, statement)
        case .notOffered: MeasuredOutcome(.unsupported)
        case .untrusted(let reason): MeasuredOutcome(.failed, reason: reason)
        case .failed(let statement): MeasuredOutcome(.failed, statement)
        }
    }
}
