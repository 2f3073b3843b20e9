// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import ConsentStores
import ConsentUseCases
import Consents
import HTTPEdge
import NativeHTTPServer
import NativeSystem
import Observability
import RefreshSchedule
import Settings
import StateFiles

/// `serve`: the API and the admin listener, until a signal ends it.
struct Serving: Sendable {
    let place: Workplace
    let gateway: Gateway
    let callers: CallerDirectory
    /// Nil where no user calls by itself.
    let sessions: MerchantSessions?
    let api: HTTPServer
    let admin: HTTPServer
    private let upkeep: Task<Void, Never>
    private let preparing: Task<Void, Never>
    private let checkpoints: Task<Void, Never>
    private let epochs: Task<Void, Never>
    private let schedule: Schedule
    private let scheduling: Task<Void, Never>
    private let slots: ListenerSlots
    private let isDraining = Locked(false)

    var apiAddress: String { Serving.url(api, isTLS: place.settings.server.tls != nil) }
    var adminAddress: String { Serving.url(admin, isTLS: false) }

    /// How often created and revoked API keys are looked for; the contract promises 5 s.
    private static let keyInterval = Duration.seconds(2)
    /// How often the last use of keys is written down.
    private static let usesInterval = Duration.seconds(60)

    /// Opens the gateway and listens.
    /// - Throws: `StartFailure`.
    static func start(in place: Workplace) async throws(StartFailure) -> Serving {
        let wanted = place.settings.server.limits.connections + 200
        try raiseFiles(to: wanted)
        let gateway = try Gateway.open(in: place, for: .keeps)
        var sessions: MerchantSessions?
        do throws(StartFailure) {
            sessions = try MerchantSessions.open(in: place, vault: gateway.vault)
            do throws(StoreFailure) { try await gateway.epoch.begin() } catch {
                throw StartFailure(error, at: gateway.location)
            }
            // Before anybody can ask for a code whose answer an ended instance has kept.
            await gateway.redeem.adoptAbandoned()
            return try await Serving(place, gateway, sessions)
        } catch {
            await sessions?.stop()
            await gateway.close()
            throw error
        }
    }

    private init(_ place: Workplace, _ gateway: Gateway, _ sessions: MerchantSessions?) async throws(StartFailure) {
        let callers: CallerDirectory
        do {
            callers = try CallerDirectory(
                store: gateway.store, time: place.time,
                configured: place.settings.auth.apiKeys.map { APIKey($0, now: place.time.now) }, sessions: sessions)
        } catch { throw StartFailure("\(error)", .storeOrKeys) }
        try await Serving.hold(place.settings.auth.apiKeys, against: gateway)
        do throws(StoreFailure) { try await callers.reload() } catch {
            throw StartFailure(error, at: gateway.location)
        }
        let handler = GatewayAPI(
            callers: callers, limits: gateway.limits,
            proxies: TrustedProxies(place.settings.server.trustedProxies), calls: gateway.calls,
            receipts: gateway.receipts, clientKeys: { gateway.clientKeys.set }, time: place.time,
            entropy: place.entropy, openAPI: try Serving.openAPI(),
            metrics: place.metrics,
            log: place.log)
        let readiness = ReadinessCheck(gateway.store, time: place.time, launcher: LoopLauncher(loops: place.loops))
        let slots = ListenerSlots()
        let page = MetricsPage(place.metrics, readings: GatewayReadings.all(place, gateway, slots, readiness))
        let adminHandler = AdminAPI(
            hosts: place.settings.server.adminHosts, isReady: { await readiness.isReady() },
            isDraining: { [isDraining] in isDraining.withLock { $0 } },
            isRefreshing: { await gateway.epoch.stop == nil },
            troubles: { await Serving.troubles(gateway.store, at: place.time.now) }, metrics: page, time: place.time,
            entropy: place.entropy)
        let settings = place.settings.server
        admin = try await Serving.listen(
            adminHandler, at: settings.adminListen, settings.limits, nil, place, "admin_listen")
        do throws(StartFailure) {
            let identity = try settings.tls.map(TLSFiles.identity)
            api = try await Serving.listen(handler, at: settings.listen, settings.limits, identity, place, "listen")
        } catch {
            await admin.stop()
            throw error
        }
        slots.put(api, at: .api)
        slots.put(admin, at: .admin)
        self.slots = slots
        self.place = place
        self.gateway = gateway
        self.sessions = sessions
        self.callers = callers
        upkeep = LoopLauncher(loops: place.loops).launch { await Serving.keepUp(place, callers, gateway) }
        preparing = LoopLauncher(loops: place.loops).launch { await gateway.prepareIssuers(place) }
        let keeping = KeepCheckpoints(make: gateway.makeCheckpoint, time: place.time, log: place.log)
        let work = gateway.backgroundWork(place) { [isDraining] in !isDraining.withLock { $0 } }
        let schedule = Schedule(work, time: place.time)
        self.schedule = schedule
        scheduling = LoopLauncher(loops: place.loops).launch { await schedule.run() }
        // Apart from the loops: a million heads are a second of hashing.
        checkpoints = Task.detached { await keeping.run() }
        // Likewise: a step waits for the disk.
        epochs = Task.detached {
            Serving.tidy(gateway, place)
            await gateway.epoch.run()
        }
    }

    private static func listen(
        _ handler: any HTTPHandler, at address: ListenAddress, _ limits: ServerLimits,
        _ identity: TLSIdentity?, _ place: Workplace, _ key: String
    ) async throws(StartFailure) -> HTTPServer {
        let options = HTTPServerOptions(
            host: address.host, port: address.port,
            limits: HTTPServerOptions.Limits(
                bodyBytes: limits.body, headBytes: limits.headers, connections: limits.connections,
                headTimeout: limits.headTimeout, bodyTimeout: limits.bodyTimeout, idleTimeout: limits.idleTimeout),
            identity: identity)
        do throws(HTTPServerError) {
            return try await HTTPServer.start(on: place.loops, options: options, handler: handler)
        } catch {
            let isAddress = if case .cannotListen = error { true } else { false }
            throw StartFailure("server.\(key) \(address): \(error)", isAddress ? .configuration : .partlyDone)
        }
    }

    private static func hold(_ keys: [APIKeySettings], against gateway: Gateway) async throws(StartFailure) {
        let stored: [APIKey]
        do throws(StoreFailure) { stored = try await gateway.store.apiKeys() } catch {
            throw StartFailure(error, at: gateway.location)
        }
        try KeyNames.hold(keys, against: stored.map(\.name))
    }

    private static func openAPI() throws(StartFailure) -> OpenAPIDocument {
        do { return try OpenAPIDocument.load() } catch {
            throw StartFailure("the built-in openapi.yaml cannot be read: \(error)", .partlyDone)
        }
    }

    private static func raiseFiles(to wanted: Int) throws(StartFailure) {
        do {
            let limit = try raiseFileLimit(atLeast: wanted)
            guard limit < wanted else { return }
            throw StartFailure(
                "server.limits.connections needs \(wanted) open files, the system allows \(limit): raise the limit "
                    + "(ulimit -n, LimitNOFILE) or lower the setting", .configuration)
        } catch let failure as StartFailure {
            throw failure
        } catch {
            throw StartFailure("the limit of open files cannot be raised: \(error)", .configuration)
        }
    }

    private static func tidy(_ gateway: Gateway, _ place: Workplace) {
        do throws(StateFailure) { try gateway.withdrawn.tidy(at: place.time.now) } catch {
            place.log.warning("the list of withdrawals could not be tidied", [Fact(.reason, "\(error)")])
        }
    }

    /// What keeps calls from each provider, for readiness.
    private static func troubles(_ store: any ProviderHealthStore, at now: Instant) async
        -> [(provider: String, words: [String])]
    {
        let states = (try? await store.providerStates()) ?? []
        return states.compactMap { state in
            let words = state.conditions(at: now).map(\.rawValue).sorted()
            return words.isEmpty ? nil : (state.provider.name, words)
        }
    }

    private static func keepUp(_ place: Workplace, _ callers: CallerDirectory, _ gateway: Gateway) async {
        var nextUses = place.time.monotonic + usesInterval
        while !Task.isCancelled {
            do {
                try await place.time.sleep(until: place.time.monotonic + keyInterval)
                try await callers.reload()
                await gateway.watch()
                await gateway.withdraw.finish()
                guard place.time.monotonic >= nextUses else { continue }
                try await callers.writeUses()
                nextUses = place.time.monotonic + usesInterval
            } catch is CancellationError {
                return
            } catch {
                place.log.warning("the store could not be kept up with", [Fact(.reason, "\(error)")])
            }
        }
    }

    /// Takes no new connection, and returns when the requests and flights under way have ended.
    func drain() async {
        isDraining.withLock { $0 = true }
        await api.drain()
        let farewell = place.time.monotonic + .seconds(2)
        while !Task.isCancelled {
            let flights = await gateway.flightsUnderWay + schedule.passesUnderWay
            let hasLeft = api.openConnections == 0 || place.time.monotonic >= farewell
            if flights == 0, api.openRequests == 0, hasLeft { return }
            try? await place.time.sleep(until: place.time.monotonic + .milliseconds(20))
        }
    }

    /// Closes everything at once.
    func stop() async {
        upkeep.cancel()
        preparing.cancel()
        checkpoints.cancel()
        scheduling.cancel()
        epochs.cancel()
        await scheduling.value
        await epochs.value
        await gateway.epoch.end()
        await upkeep.value
        await checkpoints.value
        await api.stop()
        await admin.stop()
        slots.clear()
        await sessions?.stop()
        await gateway.close()
    }

    /// Takes other keys from the configuration, known at once; none where one has the name of a key of the store.
    func takeKeys(_ keys: [APIKeySettings]) async {
        do throws(StartFailure) {
            try await Serving.hold(keys, against: gateway)
            callers.configure(keys.map { APIKey($0, now: place.time.now) })
            do throws(StoreFailure) { try await callers.reload() } catch {
                throw StartFailure(error, at: gateway.location)
            }
            place.log.notice("the callers' keys were read again")
        } catch {
            place.log.error("the callers' keys are not taken; the old ones stay", [Fact(.reason, error.sentence)])
        }
    }

    /// Shows the certificate that lies in the files now; a bad one leaves the old one in place.
    func takeCertificate(_ settings: TLSSettings?) async {
        guard let settings, place.settings.server.tls != nil else {
            if settings != nil { place.log.warning("TLS begins with a restart", [Fact(.setting, "server.tls")]) }
            return
        }
        do {
            try await api.show(TLSFiles.identity(settings))
            place.log.notice("the certificate was read again", [Fact(.setting, "server.tls")])
        } catch let failure as StartFailure {
            place.log.error("the certificate cannot be read; the old one stays", [Fact(.reason, failure.sentence)])
        } catch {
            place.log.error("the certificate cannot be read; the old one stays", [Fact(.reason, "\(error)")])
        }
    }

    private static func url(_ server: HTTPServer, isTLS: Bool) -> String {
        "\(isTLS ? "https" : "http")://\(ListenAddress(host: server.host, port: server.port))"
    }
}

extension CallLimits {
    convenience init(_ limits: ServerLimits, time: any Timekeeper) {
        self.init(
            requestsPerCaller: Rate(limits.requestsPerCaller), exchangesPerSubject: Rate(limits.exchangesPerSubject),
            failedLoginsPerAddress: Rate(limits.failedLoginsPerAddress), time: time)
    }
}

extension CallLimits.Rate {
    init(_ rate: Settings.Rate) { self.init(count: rate.count, period: rate.period) }
}

extension APIKey {
    /// A key that stands in the configuration by its hash.
    init(_ settings: APIKeySettings, now: Instant) {
        self.init(
            name: settings.name, digest: settings.sha256,
            scopes: Set(settings.scopes.compactMap(CallerScope.init(rawValue:))), createdAt: now, expiresAt: nil)
    }
}
