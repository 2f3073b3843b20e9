// SPDX-License-Identifier: Apache-2.0

/// Everything that the program counts, by its name on the metrics page. The documentation's table is made of this.
package enum Metric: String, Sendable, CaseIterable {
    case httpRequests = "consent_gateway_http_requests_total"
    case httpRequestDuration = "consent_gateway_http_request_duration_seconds"
    case httpProblems = "consent_gateway_http_problems_total"
    case httpOpenConnections = "consent_gateway_http_open_connections"
    case httpOpenRequests = "consent_gateway_http_open_requests"
    case apiKeyFailures = "consent_gateway_api_key_failures_total"
    case providerCalls = "consent_gateway_provider_calls_total"
    case providerCallDuration = "consent_gateway_provider_call_duration_seconds"
    case issuerFetches = "consent_gateway_issuer_fetches_total"
    case providerClockOffset = "consent_gateway_provider_clock_offset_seconds"
    case sessionKeyFetches = "consent_gateway_session_key_fetches_total"
    case flights = "consent_gateway_flights"
    case refreshesDue = "consent_gateway_refreshes_due"
    case refreshesOverdue = "consent_gateway_refreshes_overdue"
    case refreshLag = "consent_gateway_refresh_lag_seconds"
    case grantsInDoubt = "consent_gateway_grants_in_doubt"
    case leasesLost = "consent_gateway_refresh_leases_lost_total"
    case providerBlocked = "consent_gateway_provider_blocked"
    case heldVerdicts = "consent_gateway_held_verdicts"
    case grantsAdopted = "consent_gateway_grants_adopted_total"
    case journalEntries = "consent_gateway_journal_entries_total"
    case namedUnknown = "consent_gateway_calls_named_unknown_total"
    case storeWrites = "consent_gateway_store_writes_total"
    case storeBatchWrites = "consent_gateway_store_batch_writes"
    case storeReady = "consent_gateway_store_ready"
    case checkpointAge = "consent_gateway_checkpoint_age_seconds"
    case logLinesLost = "consent_gateway_log_lines_lost_total"
    case buildInfo = "consent_gateway_build_info"
    case processCPU = "process_cpu_seconds_total"
    case processResidentMemory = "process_resident_memory_bytes"
    case processOpenFiles = "process_open_fds"

    /// By its length, which tells nearly all apart: Swift would hash the whole text for each look-up.
    package func hash(into hasher: inout Hasher) { hasher.combine(rawValue.utf8.count) }

    /// What it tells, in a sentence without a full stop.
    package var help: String {
        switch self {
        case .httpRequests: "Answers of the API listener by route, method and status"
        case .httpRequestDuration: "Seconds from a request's complete head to its answer, by route"
        case .httpProblems: "Problem documents of the API listener by code"
        case .httpOpenConnections: "Open connections by listener"
        case .httpOpenRequests: "Requests that are being answered, by listener"
        case .apiKeyFailures: "Requests without a valid API key or session"
        case .providerCalls: "Calls to providers by what they came to"
        case .providerCallDuration: "Seconds that calls to providers took"
        case .issuerFetches: "Fetches of what providers' issuers tell of themselves, and of their keys"
        case .providerClockOffset:
            "Seconds by which a provider's clock is ahead of ours, by the last document that its issuer has told"
        case .sessionKeyFetches: "Fetches of the keys that sessions of the merchant's users are held against"
        case .flights: "Exchanges and refreshes under way"
        case .refreshesDue: "Grants whose refresh is due, 100000 at most"
        case .refreshesOverdue: "Grants whose refresh has been due for over five minutes, 100000 at most"
        case .refreshLag: "Seconds for which the refresh has been due that has waited for longest"
        case .grantsInDoubt: "Grants whose last refresh went out and nobody knows what became of it"
        case .leasesLost: "Refreshes that came back when another had been saved, or their lease had been taken"
        case .providerBlocked: "1 where a gate, breaker, pause or the death brake keeps calls from a provider, else 0"
        case .heldVerdicts: "Verdicts over grants, held until a trial of one succeeds or an operator decides"
        case .grantsAdopted: "Grants that ended instances had kept, taken over here to make consents of"
        case .journalEntries: "Answers of providers that went to the journal, for the store did not take them at once"
        case .namedUnknown: "Calls of ended instances whose outcome nobody knows"
        case .storeWrites: "Writes by what the store made of them"
        case .storeBatchWrites: "Writes in one transaction of the store"
        case .storeReady: "1 where the store can be worked with, else 0"
        case .checkpointAge: "Seconds since the last signed checkpoint of the evidence was begun"
        case .logLinesLost: "Log lines that nobody took in time"
        case .buildInfo: "Always 1; the version is its label"
        case .processCPU: "CPU seconds that the process has used, in user and system mode"
        case .processResidentMemory: "Bytes of the process that lie in memory"
        case .processOpenFiles: "Open file descriptors of the process"
        }
    }

    package var kind: MetricKind {
        switch self {
        case .httpRequests, .httpProblems, .apiKeyFailures, .providerCalls, .issuerFetches, .sessionKeyFetches,
            .leasesLost, .grantsAdopted, .journalEntries, .namedUnknown,
            .storeWrites, .logLinesLost, .processCPU:
            .counter
        case .providerClockOffset, .providerBlocked, .heldVerdicts, .httpOpenConnections, .httpOpenRequests, .flights,
            .refreshesDue,
            .refreshesOverdue, .refreshLag,
            .grantsInDoubt, .storeReady, .checkpointAge, .buildInfo,
            .processResidentMemory,
            .processOpenFiles:
            .gauge
        case .httpRequestDuration, .providerCallDuration: .histogram(.callDurations)
        case .storeBatchWrites: .histogram(.batchSizes)
        }
    }

    /// Whether a counter's number is another part's, which is read when somebody looks.
    var isKeptElsewhere: Bool {
        switch self {
        case .logLinesLost, .processCPU: true
        default: false
        }
    }

    /// In the order in which their values are given.
    package var labels: [MetricLabel] {
        switch self {
        case .httpRequests: [.route, .method, .status]
        case .httpRequestDuration: [.route]
        case .httpProblems: [.code]
        case .httpOpenConnections, .httpOpenRequests: [.listener]
        case .providerBlocked: [.provider, .blockReason]
        case .heldVerdicts, .providerClockOffset: [.provider]
        case .providerCalls: [.provider, .call, .callOutcome]
        case .providerCallDuration: [.provider, .call]
        case .issuerFetches: [.provider, .document, .fetchOutcome]
        case .sessionKeyFetches: [.fetchOutcome]
        case .refreshesDue, .refreshesOverdue, .refreshLag, .grantsInDoubt, .leasesLost: [.provider]
        case .flights, .namedUnknown: [.flight]
        case .storeWrites: [.writeOutcome]
        case .buildInfo: [.version]
        case .apiKeyFailures, .grantsAdopted, .journalEntries, .storeBatchWrites, .storeReady, .checkpointAge,
            .logLinesLost, .processCPU, .processResidentMemory, .processOpenFiles:
            []
        }
    }
}

/// What a number does, as the exposition format names it.
package enum MetricKind: Sendable, Equatable {
    /// Only ever rises.
    case counter
    /// Is read whenever somebody looks.
    case gauge
    /// Counts how often a value was at most so large.
    case histogram(MetricBuckets)

    /// As it stands in a `# TYPE` line.
    package var word: String {
        switch self {
        case .counter: "counter"
        case .gauge: "gauge"
        case .histogram: "histogram"
        }
    }
}

/// The upper bounds of a histogram, rising, and how its whole numbers become the unit of its name.
package struct MetricBuckets: Sendable, Equatable {
    package let bounds: [Int64]
    /// So many make one of the unit.
    package let scale: Int64

    /// 1 ms to 60 s, in microseconds.
    static let callDurations = MetricBuckets(
        bounds: [
            1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000,
            10_000_000, 30_000_000, 60_000_000,
        ], scale: 1_000_000)
    /// 1 to 256.
    static let batchSizes = MetricBuckets(bounds: [1, 2, 4, 8, 16, 32, 64, 128, 256], scale: 1)
}
