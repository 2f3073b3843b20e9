// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import ConsentUseCases
import Consents
import NativeSystem
import Observability
import TestSupport
import Testing
import TokenVaults

@testable import RefreshSchedule

/// Two instances on one store, and a provider in memory that both ask; time is moved on by hand.
final class BlameHouse: Sendable {
    /// What one process has.
    struct Instance: Sendable {
        let store: SQLStore
        let refresh: RefreshConsent
        fileprivate let watch: WatchProviders
        fileprivate let pass: RefreshPass
        fileprivate let isTroubled = Locked(false)
    }

    let instances: [Instance]
    let provider: BentProvider
    let time = ManualTime()
    let ids: [ConsentID]
    let journal = JournalElsewhere()
    private let vault: RingVault

    init(grants: Int, reuse: RefreshPolicy.Reuse = .forbidden) throws {
        let place = try StorePlace(.sqlite)
        let log = Log(level: .error, format: .text, sink: MemorySink(), now: { 0 })
        let vault = try RingVault(ring: KeyRing.generate(at: Make.now))
        let (time, provider, journal) = (time, BentProvider(reuse: reuse), journal)
        instances = try (0..<2).map { _ in
            let store = try place.open()
            let watch = WatchProviders(store: store, time: time, log: log, spacing: [:])
            let refresh = RefreshConsent(
                directory: ProviderDirectory([provider], notices: []), store: store, vault: vault,
                journal: journal, time: time, entropy: LooseEntropy(), launcher: LooseLauncher(), watch: watch,
                lease: .seconds(120), metrics: place.metrics, log: log)
            let pass = RefreshPass(
                facts: provider.facts, refresh: refresh, store: store, slots: RefreshSlots(4), share: 4,
                budgets: ProviderBudgets([:], time: time), time: time, log: log)
            return Instance(store: store, refresh: refresh, watch: watch, pass: pass)
        }
        (self.provider, self.vault) = (provider, vault)
        ids = (0..<grants).map { _ in ConsentID(Make.uuid()) }
    }

    /// Whoever still sleeps, such as an alarm for flights that have landed, would sleep for ever.
    deinit { time.advance(by: .seconds(1_000_000_000)) }

    /// As many consents, all of them due, each with a refresh token of its own.
    func fill() async throws {
        for id in ids {
            let key = try vault.makeConsentKey(for: id)
            var consent = Make.consent()
            let made = consent.record
            consent.record = ConsentRecord(
                id: id, provider: made.provider, issuer: provider.facts.issuer, requested: made.requested,
                granted: made.granted, profileStatus: made.profileStatus, profileFetchedAt: made.profileFetchedAt,
                generation: 1, timing: Make.timing(Make.now.advanced(by: .seconds(-600))), isRefreshable: true,
                client: made.client, notice: made.notice, createdAt: made.createdAt, updatedAt: made.updatedAt)
            consent.key = key.envelope
            consent.subject = try vault.seal(SecretText("someone"), as: .subject, under: key)
            consent.providerSubject = try vault.seal(SecretText("sub"), as: .providerSubject, under: key)
            consent.profile = nil
            consent.tokens = try vault.seal(BentProvider.tokens(of: id), generation: 1, under: key)
            _ = try await instances[0].store.keepConsent(consent)
        }
    }

    /// The scheduler's passes, by the instances in turn; at least one a minute.
    func live(for length: Duration, until isDone: () -> Bool = { false }) async {
        let end = time.monotonic + length
        var turn = 0
        while time.monotonic < end, !isDone() {
            let rest = await pass(instances[turn % 2])
            turn += 1
            time.advance(by: min(max(.seconds(5), min(rest, .seconds(60))), end - time.monotonic))
        }
    }

    /// One pass of the scheduler.
    /// - Returns: until something may be done again.
    @discardableResult
    func pass(_ instance: Instance) async -> Duration {
        let conditions = PassConditions(
            mayBegin: { true },
            blockedUntil: { [time] in
                try? await instance.store.blockedProviders(at: time.now)[$0]?.until
            })
        let ended = await instance.pass.run(isProbing: instance.isTroubled.withLock { $0 }, conditions)
        instance.isTroubled.withLock { $0 = ended.end == .troubled }
        await instance.watch()
        return switch ended.end {
        case .blocked(let wait): wait
        case .idle(let next): next ?? .seconds(60)
        case .more, .troubled, .interrupted: .zero
        }
    }

    /// Lays down what an ended instance has received of a grant that it had claimed, in a journal that another process
    /// holds.
    func leaveAnswer(of id: ConsentID, attempt: AttemptID) async throws {
        let known = try #require(try await instances[0].store.refreshableGrant(id))
        let key = try vault.openConsentKey(try #require(known.envelopes.key), for: id)
        let tokens = BentProvider.tokens(of: id)
        let write = TokenWrite(
            id: id, attempt: attempt, expectedGeneration: 1, tokens: try vault.seal(tokens, generation: 2, under: key),
            timing: Make.timing(time.now.advanced(by: .seconds(3600))), isRefreshable: true,
            granted: ScopeSet(["openid"]), at: time.now, events: [])
        journal.entries.withLock { entries in
            if let entry = try? vault.seal(.tokens(write, tokens), journal: Make.uuid()) { entries.append(entry) }
        }
    }

    func statuses() async throws -> [ConsentStatus: Int] {
        var counts: [ConsentStatus: Int] = [:]
        for id in ids {
            counts[try #require(try await instances[0].store.consent(id)).record.status, default: 0] += 1
        }
        return counts
    }
}

/// A provider that gives tokens, or the same other answer to everybody.
final class BentProvider: ProviderConnection {
    private struct State {
        var outcome: TokenOutcome?
        var arrival: @Sendable () -> Void = {}
        /// By the refresh token.
        var calls: [String: Int] = [:]
        var granted: Set<String> = []
    }

    let facts: ProviderFacts
    private let state = Locked(State())

    init(reuse: RefreshPolicy.Reuse) {
        facts = ProviderFacts(
            key: Make.provider,
            issuer: IssuingClient(clientID: "client", tokenEndpoint: "https://provider.example/token"),
            isPayPal: true, scopes: ScopeSet(["openid"]), redirectURI: nil, allowedRedirectURIs: [],
            isPKCERequired: false, isNonceRequired: false, hasConstantCode: false, handsOutAccessTokens: true,
            profileMaxAge: .seconds(86_400 * 30),
            policy: RefreshPolicy(
                kind: .keepAlive, interval: .seconds(86_400), reuse: reuse, idleLife: nil,
                defaultLifetime: .seconds(3600)),
            timeouts: ProviderTimeouts(connect: .seconds(3), total: .seconds(10), answer: .seconds(60)),
            identity: IdentityRules(idToken: .ignored, sharing: nil), revocationScope: .token)
    }

    var identity: (any IdentityCheck)? { nil }
    var answeringIssuer: AnsweringIssuer { .notConfigured }

    static func tokens(of id: ConsentID) -> TokenSet {
        TokenSet(
            accessToken: SecretText("access"), tokenType: "Bearer", refreshToken: SecretText("refresh-\(id)"),
            idToken: nil)
    }

    /// Since the last change of the answer, as the other two.
    var calls: Int { state.withLock { $0.calls.values.reduce(0, +) } }
    var mostCallsOfOne: Int { state.withLock { $0.calls.values.max() ?? 0 } }
    /// How many grants have got tokens.
    var granted: Int { state.withLock { $0.granted.count } }

    func answer(_ outcome: TokenOutcome?) {
        state.withLock { state in
            state.outcome = outcome
            state.calls = [:]
            state.granted = []
        }
    }

    /// What happens between a claim and the sending.
    func onArrival(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.arrival = body } }

    func refresh(_ refreshToken: SecretText, fence: @escaping @Sendable () -> Bool) async -> TokenOutcome {
        state.withLock { $0.arrival }()
        guard fence() else { return .notSent(.fenced) }
        return state.withLock { state in
            state.calls[refreshToken.reveal(), default: 0] += 1
            if let outcome = state.outcome { return outcome }
            state.granted.insert(refreshToken.reveal())
            let tokens = TokenSet(
                accessToken: SecretText("access"), tokenType: "Bearer", refreshToken: nil, idToken: nil)
            return .granted(
                TokenAnswer(tokens: tokens, scopes: nil, expiresIn: 28_800, refreshTokenExpiresIn: nil))
        }
    }

    func exchange(_ code: consuming AuthorizationCode, _ parameters: ExchangeParameters) async -> TokenOutcome {
        _ = code.redeem()
        return .notSent(.configuration)
    }
    func revoke(_ token: SecretText, kind: TokenKind) async -> RevocationOutcome { .unsupported }
    func profile(accessToken: SecretText, limit: Duration) async -> ProfileOutcome {
        .failed(ProviderStatement(status: 0))
    }
    func takeProvenSecret() -> BlindIndex? { nil }
}

/// A journal of nobody's own: what lies in it, other processes hold.
final class JournalElsewhere: AnswerJournal {
    let entries = Locked<[JournalEntry]>([])

    func append(_ entry: JournalEntry) async throws(JournalFailure) { throw .full }
    func settle(_ id: UUIDv7) async {}
    func setAside(_ entry: JournalEntry) async throws(JournalFailure) {}
    func unsettled() async -> JournalContents { JournalContents() }
    func waitingElsewhere() async -> [JournalEntry] { entries.withLock { $0 } }
}

struct LooseEntropy: Entropy {
    func randomBits() -> (UInt64, UInt64) {
        var generator = SystemRandomNumberGenerator()
        return (generator.next(), generator.next())
    }
}

private struct LooseLauncher: TaskLauncher {
    func launch(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> { Task { await work() } }
}
