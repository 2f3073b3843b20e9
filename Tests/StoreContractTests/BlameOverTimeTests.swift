// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import ConsentUseCases
import Consents
import NativeSystem
import Testing

/// Hours of a provider's trouble over many grants, on two instances of a real store with the scheduler's own passes, by
/// a clock that is moved on. How many grants: 100, or what `BLAME_GRANTS` says.
@Suite("Blame over time", .places)
struct BlameOverTimeTests {
    static let grants = processEnvironment()["BLAME_GRANTS"].flatMap { Int($0) } ?? 100
    private static let caller = CallerIdentity(name: "test", requestID: nil)

    struct Trouble: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let outcome: TokenOutcome
        var reuse = RefreshPolicy.Reuse.forbidden
        let length: Duration
        /// Calls at most, while it lasts.
        let mostCalls: Int
        /// Of one grant.
        var mostOfOne = 21
        /// How soon all is well afterwards.
        var wellWithin = Duration.seconds(7 * 3600)
    }

    private static let twoDays = Duration.seconds(48 * 3600)

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
        // One trial each 30 s at most.
        Trouble(
            testDescription: "a provider that cannot be reached for 48 hours", outcome: .notSent(.connect),
            length: twoDays, mostCalls: 5_800),
        // A gate of half an hour and more, then as many calls as go at once.
        Trouble(
            testDescription: "a provider that says 503 for 48 hours",
            outcome: .throttled(ProviderStatement(status: 503), retryAfter: nil), length: twoDays, mostCalls: 300),
        // One trial each 150 s at most.
        Trouble(
            testDescription: "a provider that says 500 for 48 hours, and forbids reuse",
            outcome: .unknown(.serverError, ProviderStatement(status: 500)), length: twoDays, mostCalls: 1_200,
            // A trial each 300 s, then all whose access token has lapsed, in doubt or not.
            wellWithin: .seconds(900)),
        Trouble(
            testDescription: "a provider that says 500 for 48 hours, of static tokens",
            outcome: .unknown(.serverError, ProviderStatement(status: 500)), reuse: .fixed, length: twoDays,
            mostCalls: 21 * grants),
    ]

    @Test("afterwards all grants are active", arguments: troubles)
    func trouble(_ trouble: Trouble) async throws {
        let house = try BlameHouse(grants: BlameOverTimeTests.grants, reuse: trouble.reuse)
        try await house.fill()
        house.provider.answer(trouble.outcome)
        await house.live(for: trouble.length)
        let (calls, ofOne) = (house.provider.calls, house.provider.mostCallsOfOne)
        #expect(calls > 0 && calls <= trouble.mostCalls)
        #expect(ofOne <= trouble.mostOfOne)
        house.provider.answer(nil)
        let start = house.time.monotonic
        await house.live(for: trouble.wellWithin) { house.provider.granted == house.ids.count }
        if processEnvironment()["BLAME_GRANTS"] != nil {
            let rest = (house.time.monotonic - start).components.seconds
            print("\(trouble.testDescription): \(calls) calls, \(ofOne) of one grant at most; all well \(rest) s later")
        }
        #expect(try await house.statuses() == [.active: BlameOverTimeTests.grants])
        await house.pass(house.instances[0])
        #expect(try await house.instances[0].store.providerStates() == [])
    }

    @Test(
        "a grant that is the only one at its provider is sent no more often than one among many",
        arguments: [
            TokenOutcome.throttled(ProviderStatement(status: 503), retryAfter: nil), .notSent(.connect),
            .unknown(.serverError, ProviderStatement(status: 500)),
            .requestRefused(ProviderStatement(status: 400, error: "invalid_request")),
        ])
    func alone(_ outcome: TokenOutcome) async throws {
        let house = try BlameHouse(grants: 1)
        try await house.fill()
        house.provider.answer(outcome)
        await house.live(for: BlameOverTimeTests.twoDays)
        #expect((10...21).contains(house.provider.calls))
        house.provider.answer(nil)
        await house.live(for: .seconds(7 * 3600)) { house.provider.granted == 1 }
        #expect(try await house.statuses() == [.active: 1])
    }

    @Test("120 s that a provider asked one process for are kept by both, whoever asks, and then all goes on")
    func gate() async throws {
        let house = try BlameHouse(grants: 8)
        try await house.fill()
        house.provider.answer(.throttled(ProviderStatement(status: 429), retryAfter: .seconds(120)))
        await #expect(throws: ConsentFailure.self) {
            try await house.instances[0].refresh(house.ids[0], caller: BlameOverTimeTests.caller)
        }
        #expect(house.provider.calls == 1)
        house.provider.answer(nil)
        for second in 0..<120 {
            for instance in house.instances {
                await house.pass(instance)
                for way in [RefreshConsent.callAsFunction, RefreshConsent.asTrial, RefreshConsent.forced] {
                    await #expect(throws: ConsentFailure.providerUnavailable(retryAfter: .seconds(120 - second), nil)) {
                        try await way(instance.refresh)(house.ids[second % 8], BlameOverTimeTests.caller)
                    }
                }
                let code = try await instance.store.reserveCode(Make.reservation(at: house.time.now))
                guard case .blocked(_, .gate) = code else { throw Unexpected("a code that may be sent: \(code)") }
            }
            #expect(house.provider.calls == 0)
            house.time.advance(by: .seconds(1))
        }
        for instance in house.instances.reversed() { await house.pass(instance) }
        #expect(house.provider.granted == 8)
        #expect(try await house.statuses() == [.active: 8])
    }

    @Test("a token whose answer lies in a journal that another process holds does not go out again")
    func heldElsewhere() async throws {
        let house = try BlameHouse(grants: 1)
        try await house.fill()
        let (id, attempt) = (house.ids[0], Make.attempt())
        #expect(try await house.instances[0].store.claimRefresh(Make.claim(id, attempt, lease: .zero)) == .claimed)
        try await house.leaveAnswer(of: id, attempt: attempt)
        _ = try await house.instances[1].refresh(id, caller: BlameOverTimeTests.caller)
        #expect(house.provider.calls == 0)
        let grant = try #require(try await house.instances[1].store.refreshableGrant(id))
        #expect(grant.generation == 2 && grant.attempt == nil)
    }

    @Test("a machine that sleeps between a claim and its sending sends nothing where its lease may be over")
    func suspended() async throws {
        let house = try BlameHouse(grants: 1)
        try await house.fill()
        let (time, id) = (house.time, house.ids[0])
        // Of a lease of 120 s an answer may take 60, and keeping it 30.
        house.provider.onArrival { time.suspend(for: .seconds(31)) }
        await #expect(throws: ConsentFailure.self) {
            try await house.instances[0].refresh(id, caller: BlameOverTimeTests.caller)
        }
        #expect(house.provider.calls == 0)
        let left = try #require(try await house.instances[1].store.refreshableGrant(id))
        #expect(left.attempt == nil && left.status == .active)
        house.provider.onArrival { time.suspend(for: .seconds(29)) }
        _ = try await house.instances[1].refresh(id, caller: BlameOverTimeTests.caller)
        #expect(house.provider.granted == 1)
    }
}
