// SPDX-License-Identifier: Apache-2.0
package import Consents
package import Observability

/// Reads a person's attributes; asks the provider again where those that are held are too old.
package final class ReadProfile: Sendable {
    private let directory: ProviderDirectory
    private let store: any ConsentStore
    private let vault: any TokenVault
    private let time: any Timekeeper
    private let refresh: RefreshConsent
    private let flights: FlightTable<ConsentID, Bool>
    private let log: Log

    package init(
        directory: ProviderDirectory, store: any ConsentStore, vault: any TokenVault, time: any Timekeeper,
        launcher: any TaskLauncher, refresh: RefreshConsent, log: Log
    ) {
        self.directory = directory
        self.store = store
        self.vault = vault
        self.time = time
        self.refresh = refresh
        flights = FlightTable(time: time, launcher: launcher)
        self.log = log
    }

    /// A profile for somebody who may read it.
    package struct Reading: Sendable {
        package var record: ConsentRecord
        package var profile: Profile
        package var fetchedAt: Instant
        /// Older than asked for, and fresher was not to be had.
        package var isStale: Bool
        /// Each attribute of the requested scopes that is not there, and why.
        package var missing: [String: Absence]
    }

    /// Why an attribute is not there.
    package enum Absence: String, Sendable {
        /// The person did not grant its scope.
        case notGranted = "not_granted"
        /// The provider did not send it.
        case notProvided = "not_provided"
        /// The provider refuses the profile as a whole.
        case withheld
    }

    /// - Parameter maxAge: how old the attributes may be; nil takes the provider's setting.
    /// - Throws: `notFound`; `consentEnded`, `reauthorizationRequired` where no profile can be had any more;
    ///   `providerUnavailable` where none is held and none came; `storeUnavailable` where the reading cannot be written
    ///   down.
    package func callAsFunction(_ id: ConsentID, maxAge: Duration?, caller: CallerIdentity)
        async throws(ConsentFailure) -> Reading
    {
        let askedAt = time.now
        let first = try await stored(id)
        try checkReadable(first.record)
        let connection = directory.connection(named: first.record.provider.name)
        let limit = maxAge ?? connection?.facts.profileMaxAge ?? .seconds(30 * 86_400)
        var current = first
        if !isFresh(first.record, limit, at: askedAt), first.record.status.isGrantHeld, let connection {
            let deadline = time.monotonic + connection.facts.timeouts.total
            _ = await flights.share(id, owner: nil, until: deadline) {
                await self.fetch(id, from: connection, olderThan: limit, caller: caller, until: deadline)
            }
            current = try await stored(id)
            try checkReadable(current.record)
        }
        let isFresh = isFresh(current.record, limit, at: askedAt)
        let reading = try reading(of: current, isStale: !isFresh)
        let tell = TellReading(store: store, time: time, log: log)
        guard try await tell(.profileRead, of: id, by: caller) else {
            throw .consentEnded(try await stored(id).record.status)
        }
        return reading
    }

    /// Asks for a profile that is pending, for nobody in particular. A grant that fails waits for its own next try.
    /// - Returns: whether it is held by now, or known to be refused.
    package func fetchPending(_ id: ConsentID, caller: CallerIdentity) async -> Bool {
        guard let first = try? await stored(id), first.record.status.isGrantHeld,
            let connection = directory.connection(named: first.record.provider.name),
            first.record.status == .active || first.record.timing.accessTokenExpiresAt > time.now
        else { return false }
        let deadline = time.monotonic + connection.facts.timeouts.total
        _ = await flights.share(id, owner: nil, until: deadline) {
            await self.fetch(
                id, from: connection, olderThan: connection.facts.profileMaxAge, caller: caller, until: deadline)
        }
        return (try? await stored(id))?.record.profileStatus != .pending
    }

    /// Whether the attributes were young enough when they were asked for; what was fetched since then is.
    private func isFresh(_ record: ConsentRecord, _ limit: Duration, at askedAt: Instant) -> Bool {
        guard record.profileStatus == .current, let fetched = record.profileFetchedAt else { return false }
        return fetched.duration(to: askedAt) <= limit
    }

    private func checkReadable(_ record: ConsentRecord) throws(ConsentFailure) {
        switch record.status {
        case .revoked, .superseded: throw .consentEnded(record.status)
        case .active, .failing, .reauthorizationRequired, .expired: return
        }
    }

    private func reading(of stored: StoredConsent, isStale: Bool) throws(ConsentFailure) -> Reading {
        let opened: OpenedConsent
        do { opened = try RecordOpening(vault: vault).open(stored, withProfile: true) } catch { throw .ourFault }
        guard let profile = opened.profile, let fetchedAt = stored.record.profileFetchedAt else {
            switch stored.record.status {
            case .reauthorizationRequired: throw .reauthorizationRequired(stored.record.statusReason)
            case .expired: throw .consentEnded(.expired)
            default: throw .providerUnavailable(retryAfter: ExchangeStep.retryDelay, nil)
            }
        }
        return Reading(
            record: stored.record, profile: profile, fetchedAt: fetchedAt, isStale: isStale,
            missing: ReadProfile.missing(in: profile, of: stored.record))
    }

    /// Every attribute of the requested scopes that is not there.
    static func missing(in profile: Profile, of record: ConsentRecord) -> [String: Absence] {
        func absence(_ scope: String) -> Absence? {
            guard record.requested.contains(scope) else { return nil }
            if !record.granted.contains(scope) { return .notGranted }
            return record.profileStatus == .unavailable ? .withheld : .notProvided
        }
        var missing: [String: Absence] = [:]
        for name in ClaimName.allCases where profile.claims[name] == nil {
            missing[name.rawValue] = absence(name.scope)
        }
        if profile.address.isEmpty { missing["address"] = absence("address") }
        return missing
    }

    /// Asks userinfo, with a token that still works; what fails leaves what is held.
    /// - Parameter limit: younger attributes are left as they are, where nothing but their ID token was waited for.
    private func fetch(
        _ id: ConsentID, from connection: any ProviderConnection, olderThan limit: Duration, caller: CallerIdentity,
        until deadline: Duration
    ) async -> Bool {
        do {
            var current = try await stored(id)
            if current.record.timing.accessTokenExpiresAt <= time.now.advanced(by: .seconds(5)) {
                guard current.record.isRefreshable else { return false }
                _ = try await refresh(id, caller: caller)
                current = try await stored(id)
            }
            guard connection.facts.hasIssued(current.record) else {
                log.error("a grant was issued to another client than the configured one", [Fact(.consentID, "\(id)")])
                return false
            }
            guard let envelope = current.key, let sealed = current.tokens,
                await !isGated(current.record.provider)
            else { return false }
            let key = try vault.openConsentKey(envelope, for: id)
            let tokens = try vault.openTokens(sealed, generation: current.record.generation, under: key)
            // Of a grant whose ID token nobody could verify no profile is trusted.
            if connection.identity != nil, current.providerSubject == nil, tokens.idToken != nil { return false }
            return await fetch(
                current, key, tokens, from: connection, olderThan: limit, caller: caller, until: deadline)
        } catch {
            return false
        }
    }

    /// The same of a record whose tokens may be used for it, once the ID token that waits with them is judged.
    private func fetch(
        _ stored: StoredConsent, _ key: ConsentKey, _ tokens: TokenSet, from connection: any ProviderConnection,
        olderThan limit: Duration, caller: CallerIdentity, until deadline: Duration
    ) async -> Bool {
        let granted = stored.record.granted
        let keeping = ProfileKeeping(store: store, vault: vault, time: time, log: log)
        var (told, judged): (FetchedProfile?, ProfileWrite.SealedAgain?)
        if let identity = connection.identity, let waiting = tokens.laterIDToken {
            let later = LaterIdentity(keeping, of: stored, tokens, key, caller)
            guard case .good(let person) = await later.look(at: waiting, by: identity) else { return false }
            if let fetchedAt = stored.record.profileFetchedAt, fetchedAt.duration(to: time.now) <= limit {
                return await later.settle([])
            }
            judged = later.tokens
            told = person.flatMap { told in
                told.providerSubject.map { FetchedProfile(told: told, of: $0, granted: granted, by: connection) }
            }
        }
        let fetched: FetchedProfile
        if let told {
            fetched = told
        } else {
            fetched = await ProfileFetch(time: time).fetch(
                with: tokens.accessToken, from: connection, granted: granted, until: deadline)
        }
        guard fetched.isNews(to: stored.record), fetched.names(personOf: connection) else { return false }
        return await keeping.keep(
            fetched, in: stored, key, sharing: connection.facts.identity.sharing, tokens: judged, caller: caller)
    }

    /// Whether the provider has asked to be left alone for a while, whoever heard it: what is held must do.
    private func isGated(_ provider: ProviderKey) async -> Bool {
        guard let states = try? await store.providerStates() else { return false }
        return states.contains { $0.provider == provider && $0.conditions(at: time.now).contains(.gate) }
    }

    private func stored(_ id: ConsentID) async throws(ConsentFailure) -> StoredConsent {
        let found: StoredConsent?
        do { found = try await store.consent(id) } catch { throw .storeUnavailable }
        guard let found else { throw .notFound }
        return await LapsedConsents(store: store, time: time).settled(found)
    }
}
