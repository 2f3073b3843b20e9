// SPDX-License-Identifier: Apache-2.0
package import Consents
package import Observability

/// Refreshes one grant now, for whoever asks: the one way in which a refresh token is ever spent.
package final class RefreshConsent: Sendable {
    private let directory: ProviderDirectory
    private let time: any Timekeeper
    private let flights: FlightTable<ConsentID, RefreshFlight.Outcome>
    private let work: RefreshFlight
    private let read: ReadConsent

    /// - Parameter lease: how long a claim on a grant holds.
    package init(
        directory: ProviderDirectory, store: any ConsentStore, vault: any TokenVault, journal: any AnswerJournal,
        time: any Timekeeper, entropy: any Entropy, launcher: any TaskLauncher, watch: WatchProviders,
        lease: Duration, metrics: Metrics, log: Log
    ) {
        self.directory = directory
        self.time = time
        flights = FlightTable(time: time, launcher: launcher)
        read = ReadConsent(store: store, vault: vault, time: time, log: log)
        work = RefreshFlight(
            directory: directory, store: store, vault: vault,
            keeping: AnswerKeeping(
                vault: vault, journal: journal, time: time, entropy: entropy, metrics: metrics, log: log),
            replay: JournalReplay(
                store: store, vault: vault, journal: journal, time: time, entropy: entropy, log: log),
            time: time, entropy: entropy, watch: watch, lease: lease, metrics: metrics, log: log)
    }

    /// Joins a refresh of the same grant that is under way; waits for the provider's `total`.
    /// - Throws: `notFound`; `consentEnded` and `reauthorizationRequired` where the grant is gone; `refreshPending`
    ///   where the answer is still awaited; `heldBack` where nothing may be sent yet;
    ///   `providerAbsent`, `providerMisconfigured`, `providerUnavailable`, `storeUnavailable`.
    package func callAsFunction(_ id: ConsentID, caller: CallerIdentity) async throws(ConsentFailure)
        -> OpenedConsent
    {
        try await ask(id, caller: caller, because: .asked(.refresh)) { $0.total }
    }

    /// Waits for all that the answer may take and for its keeping, for callers who have the time.
    /// - Throws: as the call that waits for `total`.
    package func toTheEnd(_ id: ConsentID, caller: CallerIdentity) async throws(ConsentFailure) -> OpenedConsent {
        try await ask(id, caller: caller, because: .asked(.refresh)) { RefreshConsent.wholeTime($0) }
    }

    /// On an operator's word: where one trial at a time goes out to the provider, this one does at once.
    /// - Throws: as the call that waits for `total`.
    package func asTrial(_ id: ConsentID, caller: CallerIdentity) async throws(ConsentFailure) -> OpenedConsent {
        try await ask(id, caller: caller, because: .asked(.operatorsRefresh)) { RefreshConsent.wholeTime($0) }
    }

    /// All that an answer may take, and its keeping.
    private static func wholeTime(_ timeouts: ProviderTimeouts) -> Duration {
        timeouts.connect + timeouts.answer + keepingTime
    }

    /// Refreshes a grant that was found due, to the end, where it is still as it was found: who has new tokens meanwhile,
    /// or another time, is left alone. Another instance that is refreshing it is not waited for.
    /// - Parameter grant: as it was read when it was found.
    /// - Returns: where it stands then.
    /// - Throws: as the call that waits for `total`; `refreshPending` also where another instance is refreshing it.
    package func whereDue(_ grant: RefreshableGrant, caller: CallerIdentity) async throws(ConsentFailure)
        -> RefreshedGrant
    {
        let due = DueRefresh(grant, idleLife: nil, at: time.now)
        return try await share(grant, caller: caller, because: .due(due, waitsForOthers: false)) {
            RefreshConsent.wholeTime($0)
        }
    }

    /// The same of one that is read now; another instance that is refreshing it is waited for.
    /// - Throws: as the call that waits for `total`.
    package func whereDue(_ due: DueRefresh, caller: CallerIdentity) async throws(ConsentFailure) -> RefreshedGrant {
        try await share(try await work.read(due.id), caller: caller, because: .due(due, waitsForOthers: true)) {
            RefreshConsent.wholeTime($0)
        }
    }

    /// Waits to the end, and sends the kept tokens of a grant that needs a new consent once more: an operator knows that
    /// the provider's word was wrong.
    /// - Throws: as the call that waits for `total`.
    package func forced(_ id: ConsentID, caller: CallerIdentity) async throws(ConsentFailure) -> OpenedConsent {
        try await ask(id, caller: caller, because: .forced) { RefreshConsent.wholeTime($0) }
    }

    /// How long a store that takes no writes may hold up what came back.
    private static let keepingTime = Duration.seconds(30)

    /// For whoever wants the record as it is then.
    private func ask(
        _ id: ConsentID, caller: CallerIdentity, because cause: RefreshCause,
        for patience: (ProviderTimeouts) -> Duration
    ) async throws(ConsentFailure) -> OpenedConsent {
        // Ends one that has lapsed, and finds out whether the record can be opened before anything is sent.
        _ = try await read(id)
        _ = try await share(try await work.read(id), caller: caller, because: cause, for: patience)
        let opened = try await read(id)
        switch opened.record.status {
        case .active, .failing: return opened
        case .reauthorizationRequired: throw .reauthorizationRequired(opened.record.statusReason)
        case .superseded, .expired, .revoked: throw .consentEnded(opened.record.status)
        }
    }

    private func share(
        _ grant: RefreshableGrant, caller: CallerIdentity, because cause: RefreshCause,
        for patience: (ProviderTimeouts) -> Duration
    ) async throws(ConsentFailure) -> RefreshedGrant {
        let timeouts = directory.connection(named: grant.provider.name)?.facts.timeouts
        let deadline = time.monotonic + (timeouts.map(patience) ?? .seconds(10))
        let shared = await flights.share(grant.id, owner: nil, until: deadline) { [work] in
            await work.run(grant.id, found: grant, caller: caller, waitUntil: deadline, because: cause)
        }
        guard let outcome = shared.outcome else { throw .refreshPending }
        return try outcome.get()
    }

    package var flightsUnderWay: Int { get async { flights.count } }
}
