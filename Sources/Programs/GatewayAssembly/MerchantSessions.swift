// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Consents
import HTTPEdge
import IdentityTokens
import NativeCurl
import NativeEventLoop
import NativeJOSE
import NativeSystem
import Observability
import ProviderClients
import Settings
import TokenVaults

/// The merchant's users as the API asks for them: judged by the issuers of `auth.jwt`, named by a keyed digest.
struct MerchantSessions: UserSessions {
    private let tokens: CallerTokens
    private let files: [KeyFile]
    private let vault: RingVault
    private let clients: [CurlClient]
    private let log: Log

    /// An entry's keys that lie in a file.
    private struct KeyFile: Sendable {
        let path: String
        let place: String
        let keys: IssuerKeys
    }

    private static let connectTimeout = Duration.seconds(3)
    /// Whoever waits is a request.
    private static let timeout = Duration.seconds(5)
    /// Digits of the digest: of a million users no two have the same, but for one chance in tens of millions.
    private static let nameBytes = 8

    /// - Returns: nil where no user calls by itself.
    /// - Throws: `StartFailure` with status 3 for a file of keys that cannot be used.
    static func open(in place: Workplace, vault: RingVault) throws(StartFailure) -> MerchantSessions? {
        let settings = place.settings.auth.jwt
        return settings.isEmpty ? nil : try MerchantSessions(settings, place, vault)
    }

    private init(_ settings: [JWTSettings], _ place: Workplace, _ vault: RingVault) throws(StartFailure) {
        var sets: [JSONWebKeySet?] = []
        for (index, entry) in settings.enumerated() { sets.append(try MerchantSessions.keys(of: entry, at: index)) }
        let clients = try MerchantSessions.clients(settings, place.loops)
        let (loops, metrics) = (place.loops, place.metrics)
        let source = MerchantSessions.source(clients, loops)
        var files: [KeyFile] = []
        var entries: [CallerTokens.Entry] = []
        for (index, entry) in settings.enumerated() {
            let keys: IssuerKeys
            switch entry.keys {
            case .file(let path):
                keys = IssuerKeys(sets[index] ?? JSONWebKeySet(keys: []), time: place.time)
                files.append(KeyFile(path: path, place: MerchantSessions.place(index), keys: keys))
            case .uri(let uri):
                // The configured host may be private.
                let url = ProviderURL(text: uri, addresses: .any)
                keys = IssuerKeys(
                    at: { .success(url) }, source: source, limits: .usual, time: place.time,
                    launcher: LoopLauncher(loops: loops)
                ) { metrics.count(.sessionKeyFetches, [FetchOutcome($0).rawValue]) }
            }
            entries.append(CallerTokens.Entry(rules: CallerTokenRules(entry), keys: keys))
        }
        tokens = CallerTokens(entries, time: place.time)
        self.files = files
        self.vault = vault
        self.clients = clients
        log = place.log
    }

    /// All entries are asked over the same clients: nothing of an entry is in a connection.
    static func clients(_ settings: [JWTSettings], _ loops: EventLoopGroup) throws(StartFailure)
        -> [CurlClient]
    {
        let configuration = CurlConfiguration(
            proxy: settings[0].proxy?.reveal(), noProxy: settings[0].noProxy, calls: 64, idleConnections: 8)
        var clients: [CurlClient] = []
        for loop in loops.loops {
            do throws(NativeCurl.NotSentReason) {
                clients.append(try CurlClient(loop: loop, configuration: configuration))
            } catch {
                throw StartFailure("auth.jwt: connections cannot be set up: \(error)", .configuration)
            }
        }
        return clients
    }

    static func source(_ clients: [CurlClient], _ loops: EventLoopGroup) -> CurlDocuments {
        CurlDocuments(connectTimeout: connectTimeout, timeout: timeout, clock: nil) {
            loops.current.flatMap { current in clients.first { $0.loop === current } }
        }
    }

    func verdictAtOnce(on token: SecretText) -> UserVerdict? { tokens.callerAtOnce(token).map(verdict) }

    func verdict(on token: SecretText) async -> UserVerdict { verdict(await tokens.caller(token)) }

    private func verdict(_ verdict: IdentityVerdict<Subject>) -> UserVerdict {
        switch verdict {
        case .accepted(let subject):
            let digest = vault.index(of: subject).bytes.prefix(MerchantSessions.nameBytes)
            return .user(UserCaller(subject: subject, name: "user:" + Hexadecimal.text(of: digest)))
        case .refused(let fault): return .refused(fault.description)
        case .cannotVerify: return .refused("the token's algorithm is not known here")
        case .unavailable(let fault):
            // Asked for a moment ago: that was told then, or a stranger named a key that nobody knows.
            if fault != .tooEarly {
                log.warning("the keys of a session's issuer cannot be had", [Fact(.reason, fault.description)])
            }
            return .unavailable
        }
    }

    /// Takes the keys that lie in the files now; a bad file leaves the old ones in place.
    func readFilesAgain() {
        for file in files {
            do throws(StartFailure) {
                file.keys.take(try MerchantSessions.keys(in: file.path, file.place))
            } catch {
                log.error("the keys of sessions cannot be read; the old ones stay", [Fact(.reason, error.sentence)])
            }
        }
    }

    func stop() async { for client in clients { await client.stop() } }

    // MARK: Files

    private static func place(_ index: Int) -> String { "auth.jwt[\(index)].jwks.file" }

    /// Nil for keys that are fetched.
    static func keys(of entry: JWTSettings, at index: Int) throws(StartFailure) -> JSONWebKeySet? {
        guard case .file(let path) = entry.keys else { return nil }
        return try keys(in: path, place(index))
    }

    private static func keys(in path: String, _ place: String) throws(StartFailure) -> JSONWebKeySet {
        let bytes: [UInt8]
        do throws(FileReadingFailure) {
            bytes = try readFile(at: path, limit: JSONWebKeySet.longest + 1).bytes
        } catch {
            throw StartFailure("\(place) \(path): \(error.sentence)", .configuration)
        }
        let set: JSONWebKeySet
        do throws(KeySetFault) { set = try JSONWebKeySet(document: bytes) } catch {
            throw StartFailure("\(place) \(path): \(error)", .configuration)
        }
        guard !set.keys.isEmpty else {
            throw StartFailure("\(place) \(path): there is no key that can be used", .configuration)
        }
        return set
    }
}

extension CallerTokenRules {
    /// The algorithms' names were checked when the configuration was read.
    init(_ settings: JWTSettings) {
        self.init(
            issuer: settings.issuer, audience: settings.audience,
            algorithms: Set(settings.algorithms.compactMap(JOSEAlgorithm.init(rawValue:))), type: settings.type,
            subjectClaim: settings.subjectClaim, subjectPrefix: settings.subjectPrefix ?? "")
    }
}
