// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import ConsentUseCases
import Consents
import NativeSystem
import Observability
import TestSupport
import TokenVaults
import Testing

/// Hours of a provider's trouble over many grants, on two instances of a real store, by a clock that is moved on. How
/// many grants: 300, or what `BLAME_GRANTS` says.
@Suite("Blame over time", .places)
struct BlameOverTimeTests {
    static let grants = processEnvironment()["BLAME_GRANTS"].flatMap { Int($0) } ?? 300

    struct Trouble: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let outcome: TokenOutcome
        let length: Duration
        /// Calls at most, while it lasts.
        let mostCalls: Int
    }

    static let troubles = [
        Trouble(
            testDescription: "a wrong secret for an hour",
            outcome: .credentialsRefused(ProviderStatement(status: 401, error: "invalid_client")),
            length: .seconds(3600), mostCalls: 70),
        Trouble(
            testDescription: "another app's client id for an hour",
            outcome: .credentialsRefused(ProviderStatement(status: 401)), length: .seconds(3600), mostCalls: 70),
        Trouble(
            testDescription: "invalid_grant to everybody for ten minutes",
            outcome: .rejected(ProviderStatement(status: 400, error: "invalid_grant")), length: .seconds(600),
            mostCalls: 25),
        Trouble(
            testDescription: "a provider that cannot be reached for an hour", outcome: .notSent(.connect),
            length: .seconds(3600), mostCalls: 130),
    ]

    @Test("afterwards all grants are active", arguments: troubles)
    func trouble(_ trouble: Trouble) async throws {
        let house = try BlameHouse(grants: BlameOverTimeTests.grants)
        try await house.fill()
        house.provider.answer(trouble.outcome)
        try await house.live(for: trouble.length)
        #expect(house.provider.calls <= trouble.mostCalls)
        house.provider.answer(nil)
        try await house.live(for: .seconds(2 * 3600)) { try await house.areAllRefreshed() }
        let statuses = try await house.statuses()
        #expect(statuses == [.active: BlameOverTimeTests.grants])
        #expect(try await house.stores[0].providerStates() == [])
    }
}

/// Two instances, and a provider in memory that both ask.
private final class BlameHouse: Sendable {
    let stores: [SQLStore]
    let provider = BentProvider()
    private let time = ManualTime()
    private let refreshes: [RefreshConsent]
    private let watches: [WatchProviders]
    private let vault: RingVault
    private let ids: [ConsentID]

    init(grants: Int) throws {
        let place = try StorePlace(.sqlite)
        let stores = [try place.open(), try place.open()]
        let log = Log(level: .error, format: .text, sink: MemorySink(), now: { 0 })
        let vault = try RingVault(ring: KeyRing.generate(at: Make.now))
        let (time, provider) = (time, provider)
        let watches = stores.map { WatchProviders(store: $0, time: time, log: log, spacing: [:]) }
        refreshes = zip(stores, watches).map { store, watch in
            RefreshConsent(
                directory: ProviderDirectory([provider], notices: []), store: store, vault: vault,
                journal: NoJournal(), time: time, entropy: LooseEntropy(), launcher: LooseLauncher(), watch: watch,
                lease: .seconds(120), metrics: place.metrics, log: log)
        }
        (self.stores, self.vault, self.watches) = (stores, vault, watches)
        ids = (0..<grants).map { _ in ConsentID(Make.uuid()) }
    }

    /// As many consents, all of them due.
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
            consent.tokens = try vault.seal(BentProvider.tokens, generation: 1, under: key)
            _ = try await stores[0].keepConsent(consent)
        }
    }

    /// Each five seconds whoever is due is asked for, by one of the instances, where the provider may be called.
    func live(for length: Duration, until isDone: () async throws -> Bool = { false }) async throws {
        let end = time.monotonic + length
        var turn = 0
        while time.monotonic < end {
            turn += 1
            let store = stores[turn % 2]
            while try await store.blockedProviders(at: time.now).isEmpty {
                let due = try await store.dueGrants(
                    of: Make.provider, policy: provider.facts.policy, besides: [], at: time.now, limit: 50)
                if due.isEmpty { break }
                for one in due {
                    _ = try? await refreshes[turn % 2].whereDue(
                        one, caller: CallerIdentity(name: "scheduler", requestID: nil))
                }
            }
            await watches[turn % 2]()
            if try await isDone() { return }
            time.advance(by: .seconds(5))
        }
    }

    func statuses() async throws -> [ConsentStatus: Int] {
        var counts: [ConsentStatus: Int] = [:]
        for id in ids { counts[try #require(try await stores[0].consent(id)).record.status, default: 0] += 1 }
        return counts
    }

    func areAllRefreshed() async throws -> Bool {
        for id in ids {
            guard let record = try await stores[0].consent(id)?.record, record.status == .active, record.generation > 1
            else { return false }
        }
        return true
    }
}

/// A provider that gives tokens, or the same other answer to everybody.
private final class BentProvider: ProviderConnection {
    private let state = Locked<(outcome: TokenOutcome?, calls: Int)>((nil, 0))

    let facts = ProviderFacts(
        key: Make.provider, issuer: IssuingClient(clientID: "client", tokenEndpoint: "https://provider.example/token"),
        isPayPal: true, scopes: ScopeSet(["openid"]), redirectURI: nil, allowedRedirectURIs: [], isPKCERequired: false,
        isNonceRequired: false, hasConstantCode: false, handsOutAccessTokens: true,
        profileMaxAge: .seconds(86_400 * 30),
        policy: RefreshPolicy(
            kind: .keepAlive, interval: .seconds(86_400), reuse: .forbidden, idleLife: nil,
            defaultLifetime: .seconds(3600)),
        timeouts: ProviderTimeouts(connect: .seconds(3), total: .seconds(10), answer: .seconds(60)),
        identity: IdentityRules(idToken: .ignored, sharing: nil))

    var identity: (any IdentityCheck)? { nil }

    static let tokens = TokenSet(
        accessToken: SecretText("access"), tokenType: "Bearer", refreshToken: SecretText("refresh"), idToken: nil)

    /// Since the last change of the answer.
    var calls: Int { state.withLock { $0.calls } }

    func answer(_ outcome: TokenOutcome?) { state.withLock { $0 = (outcome, 0) } }

    func refresh(_ refreshToken: SecretText, fence: @escaping @Sendable () -> Bool) async -> TokenOutcome {
        state.withLock { state in
            state.calls += 1
            return state.outcome
                ?? .granted(
                    TokenAnswer(
                        tokens: BentProvider.tokens, scopes: nil, expiresIn: 28_800, refreshTokenExpiresIn: nil))
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

private struct NoJournal: AnswerJournal {
    func append(_ entry: JournalEntry) async throws(JournalFailure) { throw .full }
    func settle(_ id: UUIDv7) async {}
    func setAside(_ entry: JournalEntry) async throws(JournalFailure) {}
    func unsettled() async -> JournalContents { JournalContents() }
}

private struct LooseEntropy: Entropy {
    func randomBits() -> (UInt64, UInt64) {
        var generator = SystemRandomNumberGenerator()
        return (generator.next(), generator.next())
    }
}

private struct LooseLauncher: TaskLauncher {
    func launch(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> { Task { await work() } }
}
