// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import ConsentStores
import Consents
import NativeCurl
import NativeEventLoop
import NativeJOSE
import NativeSystem
import ProviderClients
import Settings
import TokenVaults

/// `check`: reads configuration, secrets, keys and store, and says what would fail.
enum CheckCommand {
    static func run(configPath: String?, environment: [String: String], json: Bool) async -> CommandOutput {
        let loaded: LoadedSettings
        do throws(SettingsErrors) {
            loaded = try SettingsLoader.load(path: configPath, environment: environment, options: .whole)
        } catch {
            let findings =
                error.entries.map { CheckFinding(.error, "\($0)") }
                + error.warnings.map { CheckFinding(.warning, "\($0)") }
            return CheckOutput.lines(findings, json: json, failure: .configuration)
        }
        var findings = [CheckFinding(.ok, "\(loaded.filePath): the configuration and its secrets can be read")]
        findings += loaded.warnings.map { CheckFinding(.warning, "\($0)") }
        if let files = loaded.settings.server.tls { findings.append(certificate(files)) }
        findings.append(keys(loaded.settings, environment))
        findings.append(store(loaded.settings))
        if let doubt = network(loaded.settings) { findings.append(doubt) }
        if let location = reading(loaded.settings) {
            findings += keyNames(loaded.settings, location)
            findings += StrandedGrants.findings(loaded.settings, in: location)
        }
        if let obstacle = stateFolder(loaded.settings) { findings.append(obstacle) }
        findings += sessions(loaded.settings)
        findings += loaded.settings.providers.map(provider)
        findings += await issuers(loaded.settings)
        return CheckOutput.lines(findings, json: json)
    }

    /// Asks each issuer that is needed for what it tells of itself, and for its keys.
    private static func issuers(_ settings: GatewaySettings) async -> [CheckFinding] {
        let needed = settings.providers.filter(IssuerReport.isNeeded)
        guard !needed.isEmpty || !settings.auth.jwt.isEmpty else { return [] }
        let loops: EventLoopGroup
        do { loops = try EventLoopGroup.start(name: "loop", count: 1) } catch {
            return [CheckFinding(.error, "the program's threads cannot be started: \(error)")]
        }
        var findings = await sessionIssuers(settings, loops)
        for provider in needed {
            let time = SystemTimekeeper(loops: loops, store: StoreClock())
            guard let way = try? ProviderWay(to: provider, on: loops, time, SystemEntropy()),
                let issuers = way.issuers
            else { continue }
            findings += await LoopLauncher(loops: loops).result {
                await IssuerReport(settings: provider, issuers: issuers).findings()
            }
            await way.stop()
        }
        loops.stop()
        return findings
    }

    private static func sessionIssuers(_ settings: GatewaySettings, _ loops: EventLoopGroup) async -> [CheckFinding] {
        guard !settings.auth.jwt.isEmpty else { return [] }
        let clients: [CurlClient]
        do throws(StartFailure) { clients = try MerchantSessions.clients(settings.auth.jwt, loops) } catch {
            return [CheckFinding(.error, error.sentence)]
        }
        let source = MerchantSessions.source(clients, loops)
        var findings: [CheckFinding] = []
        for (index, entry) in settings.auth.jwt.enumerated() {
            let report = SessionReport(
                entry: entry, place: "auth.jwt[\(index)]", source: source,
                time: SystemTimekeeper(loops: loops, store: StoreClock()), launcher: LoopLauncher(loops: loops))
            findings += await LoopLauncher(loops: loops).result { await report.findings() }
        }
        for client in clients { await client.stop() }
        return findings
    }

    private static func certificate(_ files: TLSSettings) -> CheckFinding {
        do throws(StartFailure) {
            _ = try TLSFiles.identity(files)
            return CheckFinding(.ok, "server.tls: the certificate and its key belong together")
        } catch {
            return CheckFinding(.error, error.sentence)
        }
    }

    /// The ring, and whether it is the one that the store was sealed with.
    private static func keys(_ settings: GatewaySettings, _ environment: [String: String]) -> CheckFinding {
        do throws(StartFailure) {
            let ring = try KeyRing.open(settings.vault.keys, environment: environment)
            try hold(ring, against: settings)
            return CheckFinding(.ok, "vault.keys: the ring seals under the key \(ring.currentID)")
        } catch {
            return CheckFinding(.error, error.sentence)
        }
    }

    /// A store that cannot be read, or is none of ours, is told of in its own line.
    private static func hold(_ ring: KeyRing, against settings: GatewaySettings) throws(StartFailure) {
        let location = try Gateway.location(settings)
        guard let status = try? location.migrationStatus(), status.found == status.known else { return }
        let vault: RingVault
        do { vault = try RingVault(ring: ring) } catch { throw StartFailure("vault.keys: \(error)", .storeOrKeys) }
        try RingCheck.hold(vault, against: location)
    }

    /// The store, if it can be looked into; one that cannot has its own line.
    private static func reading(_ settings: GatewaySettings) -> StoreLocation? {
        guard let location = try? Gateway.location(settings), let status = try? location.migrationStatus(),
            status.found == status.known
        else { return nil }
        return location
    }

    /// The keys of the configuration whose names are taken in the store.
    private static func keyNames(_ settings: GatewaySettings, _ location: StoreLocation) -> [CheckFinding] {
        guard !settings.auth.apiKeys.isEmpty, let stored = try? SQLStore.apiKeyNames(in: location) else { return [] }
        return KeyNames.doubts(settings.auth.apiKeys, stored).map { CheckFinding(.error, $0) }
    }

    private static func store(_ settings: GatewaySettings) -> CheckFinding {
        do throws(StartFailure) {
            let location = try Gateway.location(settings)
            do throws(StoreFailure) {
                return CheckFinding(.ok, "store.url: \(try schemaSentence(settings, location))")
            } catch {
                throw StartFailure(error, at: location)
            }
        } catch {
            return CheckFinding(.error, error.sentence)
        }
    }

    /// A server on a network whose certificate is not held against its name.
    private static func network(_ settings: GatewaySettings) -> CheckFinding? {
        guard case .server(let server) = try? Gateway.location(settings), server.trustsTheNetwork else { return nil }
        return CheckFinding(
            .warning,
            "store.url: who the server is is not looked at: add sslmode=verify-full and sslrootcert, or whoever is "
                + "between can pretend to be it")
    }

    private static func schemaSentence(_ settings: GatewaySettings, _ location: StoreLocation) throws(StoreFailure)
        -> String
    {
        let status = try location.migrationStatus()
        if status.found > status.known { throw .schemaIsNewer(found: status.found, known: status.known) }
        if case .file(let path) = location, let obstacle = obstacle(toMakingFilesIn: folder(of: path)) {
            throw .outOfReach("no file can be made beside the database: \(obstacle)")
        }
        if case .file(let path) = location, let obstacle = obstacle(toWritingFileAt: path) {
            throw .outOfReach("the file cannot be written: \(obstacle): make it and its -wal this user's")
        }
        if status.found == status.known { return "the schema is version \(status.found), as it must be" }
        if settings.store.migrate == .auto { return "the schema will be brought to version \(status.known) at start" }
        throw .schemaIsOlder(found: status.found, known: status.known)
    }

    /// What keeps a program from holding its lock in the state folder, if anything does.
    private static func stateFolder(_ settings: GatewaySettings) -> CheckFinding? {
        obstacle(toMakingFilesIn: settings.stateDirectory).map { obstacle in
            CheckFinding(.error, "state_dir: \(settings.stateDirectory): no file can be made there: \(obstacle)")
        }
    }

    /// The files of keys that users' sessions are held against.
    private static func sessions(_ settings: GatewaySettings) -> [CheckFinding] {
        settings.auth.jwt.enumerated().compactMap { index, entry in
            do throws(StartFailure) {
                guard let set = try MerchantSessions.keys(of: entry, at: index) else { return nil }
                let count = set.keys.count
                return CheckFinding(.ok, "auth.jwt[\(index)]: sessions are held against \(count) keys of a file")
            } catch {
                return CheckFinding(.error, error.sentence)
            }
        }
    }

    private static func provider(_ provider: ProviderSettings) -> CheckFinding {
        let signers: [AssertionKey]
        do throws(StartFailure) {
            try ProviderFiles.check(provider)
            signers = try ClientCredentials.check(provider)
        } catch {
            return CheckFinding(.error, error.sentence)
        }
        let facts = ProviderFacts(provider)
        let environment = facts.key.environment.map { " (\($0))" } ?? ""
        let parts = [
            "codes go to \(provider.endpoints.token ?? "where \(facts.issuer.tokenEndpoint) says")", secrets(provider),
            key(signers), way(provider), withdrawals(provider),
            "not asked now: `provider test \(provider.name)` does",
        ]
        return CheckFinding(
            .ok, "providers.\(provider.name)\(environment): " + parts.compactMap(\.self).joined(separator: "; "))
    }

    /// Nil where it has an endpoint that tells it.
    private static func withdrawals(_ provider: ProviderSettings) -> String? {
        guard provider.endpoints.revocation == nil, !provider.usesDiscovery else { return nil }
        return "without a revocation_endpoint it is not told of a withdrawal: its tokens lapse there"
    }

    /// Which key signs the client's assertions, by the name that it has in the published set; nil where none does.
    private static func key(_ signers: [AssertionKey]) -> String? {
        guard let key = signers.first else { return nil }
        let before = signers.dropFirst().map(\.keyID).joined(separator: ", ")
        return
            "its assertions are signed with \(key.algorithm.rawValue) by the key \(key.keyID), which the provider finds "
            + "at this gateway's /.well-known/jwks.json" + (before.isEmpty ? "" : ", beside the one before: \(before)")
    }

    private static func secrets(_ provider: ProviderSettings) -> String? {
        let count = provider.client.secrets.count
        guard count > 1 else { return nil }
        return "of its \(count) secrets the first is tried first (provider test \(provider.name) says which are taken)"
    }

    /// Through which proxy the provider's endpoints are asked, without its password; nil where there is none to speak
    /// of.
    private static func way(_ provider: ProviderSettings) -> String? {
        guard let proxy = provider.connection.proxy, !proxy.reveal().isEmpty else { return nil }
        let definition = ProviderDefinition(provider, .unread)
        let configuration = definition.transport.curlConfiguration
        let endpoints = [
            ("codes", definition.facts.issuer.tokenEndpoint), ("profiles", definition.userinfoEndpoint),
            ("revocations", definition.revocationEndpoint),
        ]
        let ways = endpoints.compactMap { name, endpoint in
            endpoint.map { (name, configuration.proxyShown(for: $0).map { "through \($0)" } ?? "without a proxy") }
        }
        let source = if case .environment(let name) = proxy.source { " (from \(name))" } else { "" }
        let isOneWay = Set(ways.map(\.1)).count == 1
        let told = isOneWay ? "asked \(ways[0].1)" : ways.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        return told + (ways.contains { $0.1.hasPrefix("through") } ? source : "")
    }
}
