// SPDX-License-Identifier: Apache-2.0

/// What the gateway makes of one fault at each place that it strikes.
struct FaultCase: Sendable, CustomStringConvertible {
    /// As the simulated provider takes it: `NAME` or `NAME=NUMBER`.
    let fault: String
    var exchange: ExchangeEnd?
    var refresh: RefreshEnd?
    var profile: ProfileEnd?
    var revocation: RevocationEnd?
    /// Whether the provider takes longer than callers wait: then `total` is short, and so is `answer`.
    var isLate = false
    /// Another provider than PayPal, by its endpoints.
    var isGeneric = false

    init(
        _ fault: String, exchange: ExchangeEnd? = nil, refresh: RefreshEnd? = nil, profile: ProfileEnd? = nil,
        revocation: RevocationEnd? = nil, isLate: Bool = false, isGeneric: Bool = false
    ) {
        self.fault = fault
        self.exchange = exchange
        self.refresh = refresh
        self.profile = profile
        self.revocation = revocation
        self.isLate = isLate
        self.isGeneric = isGeneric
    }

    var name: String { String(fault.prefix { $0 != "=" }) }
    var description: String { fault }
}

/// The end of a code.
enum ExchangeEnd: Sendable, Equatable {
    /// A consent: the access token's seconds, the number of granted scopes, whether it can be refreshed, and what came
    /// of the profile.
    case kept(lifetime: Int = 900, scopes: Int = 6, isRefreshable: Bool = true, profile: ProfileEnd = .current)
    case rejected
    case unreadable
    case unknown
    case misconfigured
    case unavailable(retryAfter: Int = 5)

    static let kept = ExchangeEnd.kept()
    static let unavailable = ExchangeEnd.unavailable()

    var status: Int {
        switch self {
        case .kept: 201
        case .rejected: 422
        case .unreadable, .misconfigured: 502
        case .unavailable: 503
        case .unknown: 504
        }
    }

    var code: String? {
        switch self {
        case .kept: nil
        case .rejected: "code_rejected"
        case .unreadable: "provider_bad_response"
        case .unknown: "exchange_unknown"
        case .misconfigured: "provider_misconfigured"
        case .unavailable: "provider_unavailable"
        }
    }

    /// Whether the same request may bring the code to the provider again.
    var isUnspent: Bool {
        switch self {
        case .misconfigured, .unavailable: true
        case .kept, .rejected, .unreadable, .unknown: false
        }
    }

    var needsNewConsent: Bool { self == .rejected || self == .unreadable || self == .unknown }
}

/// The end of a refresh, as the caller and the record see it.
enum RefreshEnd: String, Sendable {
    case refreshed
    /// The grant is gone by the provider's own word.
    case over
    /// The gateway's credentials are refused: the record stays as it is.
    case credentials
    /// The gateway's request is refused: the record is failing.
    case request
    /// Nothing was processed: the record stays as it is.
    case unavailable
    /// Nobody knows: the record is failing, and kept.
    case unknown

    var status: Int {
        switch self {
        case .refreshed: 200
        case .over: 409
        case .credentials, .request: 502
        case .unavailable, .unknown: 503
        }
    }

    var code: String? {
        switch self {
        case .refreshed: nil
        case .over: "reauthorization_required"
        case .credentials, .request: "provider_misconfigured"
        case .unavailable, .unknown: "provider_unavailable"
        }
    }

    var record: String {
        switch self {
        case .refreshed, .credentials, .unavailable: "active"
        case .over: "reauthorization_required"
        case .request, .unknown: "failing"
        }
    }
}

/// `profile_status` after the exchange.
enum ProfileEnd: String, Sendable {
    case current
    case pending
    case unavailable
}

/// What the event about a token's revocation says; `again` before there is one.
enum RevocationEnd: String, Sendable {
    case revoked
    case unsupported
    case failed
    case again
}
