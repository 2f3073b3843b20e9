// SPDX-License-Identifier: Apache-2.0
import AnswerJournals
import CommandLineEdge
import ConsentStores
import ConsentUseCases
import Consents
import HTTPEdge
import IdentityTokens
import NativeCurl
import NativeEventLoop
import NativeJOSE
import Observability
import ProviderClients
import RecordRendering
import RefreshSchedule
import Settings
import StateFiles
import TokenVaults

/// What a command opens the store for.
enum StoreUse: Sendable {
    /// It keeps something: the store is made where there is none, and brought up to date where the settings say so.
    case keeps
    /// It works on what is there: nothing is made, and the schema must be the program's.
    case visits
}

/// The house with its rooms joined: store, vault, providers, and the use cases on top of them.
struct Gateway: Sendable {
    let store: SQLStore
    /// Where the store is.
    let location: StoreLocation
    let directory: ProviderDirectory
    let limits: CallLimits
    let redeem: RedeemCode
    let read: ReadConsent
    let refresh: RefreshConsent
    let list: ListConsents
    let explain: ExplainGrant
    let events: ReadEvents
    let withdraw: WithdrawConsent
    let deliverRevocations: DeliverRevocations
    let profile: ReadProfile
    let accessToken: HandOutAccessToken
    let epoch: KeepEpoch
    let watch: WatchProviders
    let decideVerdicts: DecideVerdicts
    let restore: CheckRestore
    let withdrawn: WithdrawnFile
    let verify: VerifyLedger
    let makeCheckpoint: MakeCheckpoint
    let receipt: IssueReceipt
    let receipts: ReceiptWriter
    let budgets: ProviderBudgets
    let vault: RingVault
    let clientKeys: ClientKeys
    private let journal: FileJournal
    private let connections: [CurlProviderConnection]
    /// By the provider's name.
    let issuers: [String: ProviderIssuers]
    private let clients: [CurlClient]
    /// Of the providers with `tls_client_auth`, by their names.
    private let identities: [String: CurlClientIdentity]
    private let entropy: any Entropy
    private let time: any Timekeeper

    /// - Parameter use: whether the store may be made and brought up to date for it.
    /// - Throws: `StartFailure`: 3 for what the configuration names and is not built, 4 for keys and store.
    static func open(in place: Workplace, for use: StoreUse) throws(StartFailure) -> Gateway {
        for provider in place.settings.providers { try ProviderFiles.check(provider) }
        let ring = try KeyRing.open(place.settings.vault.keys, environment: place.environment)
        let vault: RingVault
        do { vault = try RingVault(ring: ring) } catch { throw StartFailure("\(error)", .storeOrKeys) }
        let instance = InstanceID(place.entropy.identifier(at: place.time.now))
        let store = try openStore(in: place, for: use, as: instance, ledger: vault)
        do throws(StartFailure) {
            try RingCheck.hold(vault, against: try location(place.settings))
            let journal = try openJournal(in: place, as: instance)
            do throws(StartFailure) { return try Gateway(place, store, vault, journal) } catch {
                journal.close()
                throw error
            }
        } catch {
            store.close()
            throw error
        }
    }

    private init(
        _ place: Workplace, _ store: SQLStore, _ vault: RingVault, _ journal: FileJournal
    ) throws(StartFailure) {
        let launcher = LoopLauncher(loops: place.loops)
        var clients: [CurlClient] = []
        var connections: [CurlProviderConnection] = []
        var issuers: [String: ProviderIssuers] = [:]
        var keys: [String: [AssertionKey]] = [:]
        var identities: [String: CurlClientIdentity] = [:]
        for provider in place.settings.providers {
            let credentials = try ClientCredentials(of: provider, time: place.time, entropy: place.entropy)
            let definition = ProviderDefinition(provider, credentials)
            keys[provider.name] = credentials.keys
            if let identity = definition.transport.identity { identities[provider.name] = identity }
            let own = try Gateway.clients(for: definition, on: place.loops)
            clients += own
            let loops = place.loops
            let client = { @Sendable in loops.current.flatMap { current in own.first { $0.loop === current } } }
            let (name, metrics) = (provider.name, place.metrics)
            let issuer = try ProviderIssuers(provider, time: place.time, launcher: launcher, client: client) {
                metrics.count(.issuerFetches, [name, $0.rawValue, FetchOutcome($1).rawValue])
            }
            issuers[provider.name] = issuer
            connections.append(
                CurlProviderConnection(
                    definition, issuer?.trust ?? .none, timekeeper: place.time,
                    order: SecretOrder(of: definition.facts, store, vault), client: client))
        }
        let budgets = ProviderBudgets(of: place.settings.providers, time: place.time)
        let measured = connections.map { connection -> any ProviderConnection in
            let measured = MeasuredConnection(connection, metrics: place.metrics, time: place.time, log: place.log)
            let isLimited = budgets.isLimited(connection.facts.key.name)
            return isLimited ? BudgetedConnection(measured, budgets: budgets) : measured
        }
        self.budgets = budgets
        directory = ProviderDirectory(measured, notices: place.settings.notices.map(\.reference))
        limits = CallLimits(place.settings.server.limits, time: place.time)
        watch = WatchProviders(
            store: store, time: place.time, log: place.log, spacing: Gateway.spacings(place.settings))
        decideVerdicts = DecideVerdicts(store: store, time: place.time)
        redeem = RedeemCode(
            directory: directory, store: store, vault: vault, journal: journal, time: place.time,
            entropy: place.entropy, launcher: launcher, limit: limits, watch: watch, metrics: place.metrics,
            log: place.log)
        refresh = RefreshConsent(
            directory: directory, store: store, vault: vault, journal: journal, time: place.time,
            entropy: place.entropy, launcher: launcher, watch: watch, lease: place.settings.refresh.lease,
            metrics: place.metrics, log: place.log)
        read = ReadConsent(store: store, vault: vault, time: place.time, log: place.log)
        list = ListConsents(store: store, vault: vault, time: place.time)
        explain = ExplainGrant(directory: directory, store: store, time: place.time)
        events = ReadEvents(store: store)
        let withdrawn = WithdrawnFile(stateDirectory: place.settings.stateDirectory)
        withdraw = WithdrawConsent(
            store: store, vault: vault, withdrawn: withdrawn, time: place.time, entropy: place.entropy, log: place.log)
        deliverRevocations = DeliverRevocations(
            directory: directory, store: store, vault: vault, time: place.time, log: place.log)
        profile = ReadProfile(
            directory: directory, store: store, vault: vault, time: place.time, launcher: launcher, refresh: refresh,
            log: place.log)
        accessToken = HandOutAccessToken(
            directory: directory, store: store, vault: vault, time: place.time, refresh: refresh, log: place.log)
        let note = EpochFile(stateDirectory: place.settings.stateDirectory)
        epoch = KeepEpoch(store: store, note: note, time: place.time, entropy: place.entropy, log: place.log)
        restore = CheckRestore(
            store: store, note: note, withdrawn: withdrawn, withdraw: withdraw, vault: vault, time: place.time,
            entropy: place.entropy)
        self.withdrawn = withdrawn
        let check = RecordCheck(ledger: vault, vault: vault)
        verify = VerifyLedger(store: store, check: check, keys: vault)
        makeCheckpoint = MakeCheckpoint(store: store, keys: vault, time: place.time, log: place.log)
        receipt = IssueReceipt(
            read: read, store: store, check: check, notices: place.settings.notices.map(PrivacyNotice.init),
            time: place.time, log: place.log)
        receipts = ReceiptWriter(base: place.settings.server.publicURL, keys: vault)
        self.store = store
        location = try Gateway.location(place.settings)
        self.vault = vault
        self.journal = journal
        clientKeys = ClientKeys(keys)
        self.identities = identities
        self.entropy = place.entropy
        self.time = place.time
        self.connections = connections
        self.issuers = issuers
        self.clients = clients
    }

    /// Asks each issuer for what will be needed, and tells of those that do not answer.
    func prepareIssuers(_ place: Workplace) async {
        for (name, issuer) in issuers.sorted(by: { $0.key < $1.key }) {
            guard let fault = await issuer.prepare() else { continue }
            place.log.warning(
                "what an issuer tells of itself cannot be had; it is asked again when it is needed",
                [Fact(.provider, name), Fact(.reason, fault.description)])
        }
    }

    /// What signs evidence, as the ring is now.
    var evidenceKeys: any EvidenceKeys & EvidenceHash { vault }

    /// The consents that a sweep refreshes.
    func candidates(_ selection: RefreshSelection, limit: Int?, _ time: any Timekeeper) -> RefreshCandidates {
        RefreshCandidates(
            selection, limit: limit, providers: directory.all.map(\.facts), store: store, vault: vault, time: time)
    }

    /// The time between two refreshes of a provider's backlog: background work takes four fifths of its rate.
    private static func spacings(_ settings: GatewaySettings) -> [String: Duration] {
        var spacings: [String: Duration] = [:]
        for provider in settings.providers {
            guard let rate = provider.rateLimit else { continue }
            spacings[provider.name] = rate.period / max(1, rate.count) * 5 / 4
        }
        return spacings
    }

    static func clients(for definition: ProviderDefinition, on loops: EventLoopGroup) throws(StartFailure)
        -> [CurlClient]
    {
        var clients: [CurlClient] = []
        for loop in loops.loops {
            do throws(NativeCurl.NotSentReason) {
                clients.append(try CurlClient(loop: loop, configuration: definition.transport.curlConfiguration))
            } catch {
                let name = definition.facts.key.name
                throw StartFailure("providers.\(name): its connections cannot be set up: \(error)", .configuration)
            }
        }
        return clients
    }

    private static func openJournal(in place: Workplace, as instance: InstanceID) throws(StartFailure) -> FileJournal {
        do throws(JournalFailure) {
            return try FileJournal(
                stateDirectory: place.settings.stateDirectory, instance: instance, size: FileJournal.standardSize)
        } catch { throw StartFailure("state_dir: \(error)", .storeOrKeys) }
    }

    private static func openStore(
        in place: Workplace, for use: StoreUse, as instance: InstanceID, ledger: any Ledger
    ) throws(StartFailure) -> SQLStore {
        let now = place.time.now
        let location = try location(place.settings)
        let mayMigrate = use == .keeps && place.settings.store.migrate == .auto
        do throws(StoreFailure) {
            if use == .visits {
                let isMade = try location.migrationStatus().found > 0
                guard isMade else { throw .outOfReach(missing(location)) }
            }
            return try SQLStore.open(
                location, stateDirectory: place.settings.stateDirectory, instance: instance, ledger: ledger,
                migrations: mayMigrate ? .automatic : .manual, limits: .standard,
                metrics: place.metrics, time: place.time, telling: place.time.store, at: now)
        } catch {
            throw StartFailure(error, at: location)
        }
    }

    private static func missing(_ location: StoreLocation) -> String {
        let makers = if case .file = location { "`serve` or `migrate` makes it" } else { "`migrate` makes its tables" }
        return "nothing has been kept there yet: is that the right place? \(makers)"
    }

    /// - Throws: `StartFailure` with status 3 for a URL that libpq does not read.
    static func location(_ settings: GatewaySettings) throws(StartFailure) -> StoreLocation {
        switch settings.store.location {
        case .sqlite(let path): return .file(path)
        case .postgres(let url):
            do throws(StoreFailure) {
                return .server(
                    try PostgresServer(
                        url: url.reveal(), directURL: settings.store.directURL?.reveal(), password: nil,
                        pool: settings.store.pool,
                        applicationName: "consent-gateway"))
            } catch { throw StartFailure("store: \(error)", .configuration) }
        }
    }

    /// Takes the ring and the clients' secrets as they are now. A provider whose client has changed keeps its old
    /// secret: that takes a restart.
    /// - Returns: the names, in order, of the providers that take a restart: new ones, those that are gone, and those
    ///   whose client, endpoint or environment is another.
    /// - Throws: `StartFailure`; the old ring and the old credentials stay then.
    @discardableResult
    func reload(_ settings: GatewaySettings, environment: [String: String]) throws(StartFailure) -> [String] {
        var others = Set(settings.providers.map(\.name))
        var taken: [(CurlProviderConnection, ClientCredentials)] = []
        var judges: [(ProviderIssuer, [ProviderIdentities])] = []
        for connection in connections {
            let name = connection.facts.key.name
            guard let found = settings.provider(named: name), ProviderFacts(found).issuer == connection.facts.issuer,
                // A client without a certificate does not get one while it runs.
                (found.client.authentication == .tls) == (identities[name] != nil)
            else {
                others.insert(name)
                continue
            }
            others.remove(name)
            taken.append((connection, try ClientCredentials(of: found, time: time, entropy: entropy)))
            if let issuer = issuers[name] { judges.append((issuer.issuer, try issuer.judges(secretsOf: found))) }
        }
        let ring = try KeyRing.open(settings.vault.keys, environment: environment)
        do { try vault.take(ring) } catch { throw StartFailure("vault.keys: \(error)", .storeOrKeys) }
        for (connection, credentials) in taken { take(credentials, for: connection) }
        for (issuer, judges) in judges { issuer.take(judges) }
        return others.sorted()
    }

    private func take(_ credentials: ClientCredentials, for connection: CurlProviderConnection) {
        let name = connection.facts.key.name
        connection.take(credentials.authentications)
        clientKeys.take(credentials.keys, for: name)
        if let file = credentials.certificate {
            identities[name]?.take(certificate: file.certificate, privateKey: file.privateKey)
        }
    }

    /// What the API can have done.
    var calls: GatewayCalls {
        GatewayCalls(
            redeem: redeem, list: list, read: read, withdraw: withdraw, profile: profile, refresh: refresh,
            accessToken: accessToken, events: events, receipt: receipt,
            holdOwner: HoldOwner(store: store, vault: vault))
    }

    /// How many codes and refresh tokens are on the wire or on their way to the store.
    var flightsUnderWay: Int { get async { await redeem.flightsUnderWay + refresh.flightsUnderWay } }

    /// Returns when what is on the wire has come back and is kept, or when the time is over.
    func land(within limit: Duration, _ time: SystemTimekeeper) async {
        let end = time.monotonic + limit
        while time.monotonic < end, await flightsUnderWay > 0 {
            try? await time.sleep(until: time.monotonic + .milliseconds(20))
        }
    }

    /// Ends the connections to providers, then the store.
    func close() async {
        for client in clients { await client.stop() }
        store.close()
        journal.close()
    }
}

extension PrivacyNotice {
    init(_ settings: NoticeSettings) {
        self.init(
            id: settings.id, version: settings.version, controller: settings.controller,
            privacyPolicy: settings.privacyPolicy, userAgreement: settings.userAgreement,
            textSHA256: settings.textSHA256, purposes: settings.purposes, jurisdiction: settings.jurisdiction)
    }
}

extension FetchOutcome {
    init(_ fault: DocumentFault?) { self = fault == nil ? .fetched : .failed }
}
