// SPDX-License-Identifier: Apache-2.0
import Consents
import Testing

/// The state machine as tables: who does what when, and who may call after.
@Suite("What calls show of a provider")
struct ProviderHealthTests {
    static let start = Instant(milliseconds: 1_700_000_000_000)

    static func grant(_ number: UInt64) -> HealthWitness { .grant(id(number)) }
    static func id(_ number: UInt64) -> ConsentID { ConsentID(UUIDv7(milliseconds: 1, random: (0, number))) }
    static func attempt(_ number: UInt64) -> AttemptID { AttemptID(UUIDv7(milliseconds: 2, random: (0, number))) }
    static func subject(_ number: UInt8) -> HealthWitness {
        .subject(BlindIndex([UInt8](repeating: number, count: 32)))
    }

    /// One row: a time in seconds, and either an event or what somebody is told who asks.
    enum Step: Sendable {
        case event(Int, HealthEvent, UInt64)
        case ask(Int, ProviderAsker, String)
        /// Asks, and begins the trial that is granted.
        case begin(Int, UInt64, ProviderAsker)
    }

    struct Table: Sendable, CustomTestStringConvertible {
        let name: String
        let steps: [Step]
        var testDescription: String { name }
    }

    static let tables: [Table] = [
        Table(
            name: "a told delay closes the provider to everybody until then",
            steps: [
                .event(0, .throttled(retryAfter: .seconds(120)), 1), .ask(0, .refresh, "gate 120"),
                .ask(119, .exchange, "gate 120"), .ask(119, .operatorsRefresh, "gate 120"), .ask(120, .refresh, "free"),
            ]),
        Table(
            name: "a delay is cut to one second and one hour",
            steps: [
                .event(0, .throttled(retryAfter: .seconds(0)), 1), .ask(0, .refresh, "gate 1"),
                .event(2, .throttled(retryAfter: .seconds(86_400)), 2), .ask(3, .refresh, "gate 3602"),
            ]),
        Table(
            name: "a shorter delay does not open a gate, and a success on its way does not either",
            steps: [
                .event(0, .throttled(retryAfter: .seconds(60)), 1), .event(1, .throttled(retryAfter: .seconds(5)), 2),
                .event(2, .succeeded(grant(3)), 3), .ask(3, .refresh, "gate 60"),
            ]),
        Table(
            name: "without a delay a gate is the backoff, and grows with each gate, not with each call",
            steps: [
                .event(0, .throttled(retryAfter: nil), 1), .event(0, .throttled(retryAfter: nil), 2),
                .ask(0, .refresh, "gate 22"), .event(46, .throttled(retryAfter: nil), 3), .ask(46, .refresh, "gate 91"),
            ]),
        Table(
            name: "five failures in a row open the breaker; one trial at a time, with longer waits, until one succeeds",
            steps: [
                .event(0, .unreachable, 1), .event(0, .unreachable, 2), .event(0, .unreachable, 3),
                .event(0, .unreachable, 4), .ask(0, .refresh, "free"), .event(0, .unreachable, 5),
                .ask(0, .refresh, "breaker 11"), .ask(0, .exchange, "breaker 11"), .ask(12, .refresh, "trial"),
                .begin(12, 6, .refresh), .ask(12, .refresh, "breaker 17"), .event(13, .unreachable, 6),
                .ask(14, .refresh, "breaker 35"), .begin(36, 7, .exchange), .event(37, .succeeded(subject(1)), 7),
                .ask(37, .refresh, "free"),
            ]),
        Table(
            name: "an answer between failures begins the count again",
            steps: [
                .event(0, .unreachable, 1), .event(0, .unreachable, 2), .event(0, .unreachable, 3),
                .event(0, .unreachable, 4), .event(0, .requestRefused, 5), .event(0, .unreachable, 6),
                .ask(0, .refresh, "free"),
            ]),
        Table(
            name: "the first unknown outcome that may cost a grant leaves one trial at a time, and codes go on",
            steps: [
                .event(0, .unknown(costsGrants: true), 1), .ask(0, .refresh, "breaker 11"), .ask(0, .exchange, "free"),
                .begin(12, 2, .refresh), .event(70, .unknown(costsGrants: true), 2), .ask(70, .refresh, "breaker 92"),
                .begin(93, 3, .refresh), .event(94, .succeeded(grant(3)), 3), .ask(94, .refresh, "free"),
            ]),
        Table(
            name: "a refresh that a dead process left on the wire leaves one trial at a time, the first at once",
            steps: [
                .event(0, .abandoned, 1), .ask(0, .refresh, "trial"), .ask(0, .exchange, "free"),
                .begin(0, 2, .refresh), .ask(1, .refresh, "breaker 6"), .event(2, .abandoned, 3),
                .ask(2, .refresh, "breaker 7"), .event(3, .succeeded(grant(2)), 2), .ask(3, .refresh, "free"),
            ]),
        Table(
            name: "an unknown outcome that costs no grant changes nothing",
            steps: [.event(0, .unknown(costsGrants: false), 1), .ask(0, .refresh, "free")]),
        Table(
            name: "a refresh with refused credentials pauses; one trial a minute, an operator's at once",
            steps: [
                .event(0, .credentialsRefused(grant(1), isByName: false), 1), .ask(1, .refresh, "pause 60"),
                .ask(1, .exchange, "pause 60"), .ask(1, .operatorsRefresh, "trial"), .begin(1, 2, .operatorsRefresh),
                .ask(2, .operatorsRefresh, "pause 7"), .event(3, .credentialsRefused(grant(2), isByName: true), 2),
                .ask(4, .refresh, "pause 61"), .begin(61, 3, .refresh), .event(62, .succeeded(grant(3)), 3),
                .ask(62, .refresh, "free"),
            ]),
        Table(
            name: "one user's codes never pause a provider, however many are refused",
            steps: [
                .event(0, .credentialsRefused(subject(1), isByName: true), 1),
                .event(0, .credentialsRefused(subject(1), isByName: true), 2),
                .event(0, .credentialsRefused(subject(2), isByName: false), 3),
                .event(0, .credentialsRefused(subject(3), isByName: false), 4), .ask(0, .exchange, "free"),
                .event(0, .credentialsRefused(subject(2), isByName: true), 5), .ask(0, .exchange, "pause 60"),
            ]),
        Table(
            name: "a success between two users' refused codes keeps the provider open",
            steps: [
                .event(0, .credentialsRefused(subject(1), isByName: true), 1), .event(1, .succeeded(subject(9)), 2),
                .event(2, .credentialsRefused(subject(2), isByName: true), 3), .ask(2, .exchange, "free"),
            ]),
        Table(
            name: "a trial of which nothing was sent is given back, and the next one need not wait a minute",
            steps: [
                .event(0, .credentialsRefused(grant(1), isByName: true), 1), .begin(60, 2, .exchange),
                .ask(61, .exchange, "pause 66"), .event(62, .nothing, 2), .ask(62, .refresh, "pause 67"),
                .ask(67, .refresh, "trial"),
            ]),
        Table(
            name: "five grants declared dead in ten minutes hold what follows; codes go on",
            steps: [
                .event(0, .declaredDead(grant(1)), 1), .event(1, .declaredDead(grant(2)), 2),
                .event(2, .declaredDead(grant(3)), 3), .event(3, .declaredDead(grant(4)), 4),
                .event(3, .declaredDead(grant(4)), 4), .ask(3, .refresh, "free"), .event(4, .declaredDead(grant(5)), 5),
                .ask(4, .refresh, "brake 64"), .ask(4, .exchange, "free"), .begin(64, 6, .refresh),
                .event(65, .succeeded(grant(6)), 6), .ask(65, .refresh, "brake 124"),
            ]),
        Table(
            name: "five dead among six that live, or over more than ten minutes, are the grants' own",
            steps: [
                .event(0, .declaredDead(grant(1)), 1), .event(0, .succeeded(grant(11)), 1),
                .event(0, .declaredDead(grant(2)), 2), .event(0, .succeeded(grant(12)), 2),
                .event(0, .declaredDead(grant(3)), 3), .event(0, .succeeded(grant(13)), 3),
                .event(0, .declaredDead(grant(4)), 4), .event(0, .succeeded(grant(14)), 4),
                .event(0, .succeeded(grant(15)), 4), .event(0, .declaredDead(grant(5)), 5), .ask(0, .refresh, "free"),
                .event(400, .succeeded(grant(16)), 6), .event(601, .declaredDead(grant(6)), 7),
                .ask(601, .refresh, "free"),
            ]),
        Table(
            name: "a clock that goes back leaves no gate, trial or wait that no delay could have made",
            steps: [
                .event(0, .throttled(retryAfter: .seconds(100)), 1), .ask(-3600, .refresh, "free"),
                .event(0, .credentialsRefused(grant(1), isByName: true), 2), .ask(-7200, .refresh, "trial"),
            ]),
    ]

    @Test("each table holds", arguments: tables)
    func table(_ table: Table) {
        var health = ProviderHealth()
        for (number, step) in table.steps.enumerated() {
            switch step {
            case .event(let second, let event, let attempt):
                health.on(event, of: Self.attempt(attempt), at: Self.at(second), spread: 0.5)
            case .ask(let second, let asker, let answer):
                #expect(Self.word(health.permit(asker, at: Self.at(second))) == answer, "step \(number)")
            case .begin(let second, let attempt, let asker):
                #expect(health.permit(asker, at: Self.at(second)) == .trial, "step \(number)")
                health.begin(Self.attempt(attempt), for: .seconds(120), at: Self.at(second))
            }
        }
    }

    @Test("what is said to tell nothing new leaves a provider of which nothing is known as it was")
    func nothingNew() {
        for event in [
            HealthEvent.succeeded(Self.grant(1)), .declaredDead(Self.grant(1)), .codeRefused, .requestRefused,
            .throttled(retryAfter: nil), .unreachable, .unknown(costsGrants: true), .unknown(costsGrants: false),
            .abandoned, .credentialsRefused(Self.grant(1), isByName: true), .nothing,
        ] {
            var health = ProviderHealth()
            health.on(event, of: Self.attempt(1), at: Self.start, spread: 0.5)
            #expect(health.isClean == event.tellsNothingNew, "\(event)")
        }
    }

    @Test("what is said of a code that was given to another client closes its provider to nobody")
    func unauthorizedClient() {
        func event(_ error: String, _ witness: HealthWitness) -> HealthEvent {
            HealthEvent(
                after: .credentialsRefused(ProviderStatement(status: 400, error: error)), of: witness, reuse: .forbidden
            )
        }
        #expect(event("unauthorized_client", Self.subject(1)) == .requestRefused)
        #expect(event("Unauthorized_Client", Self.subject(1)) == .requestRefused)
        #expect(
            event("invalid_client", Self.subject(1)) == .credentialsRefused(Self.subject(1), isByName: true))
        #expect(
            event("unauthorized_client", Self.grant(1)) == .credentialsRefused(Self.grant(1), isByName: true))
    }

    @Test("a success after anything leaves nothing that costs a write")
    func clean() {
        for event in [
            HealthEvent.throttled(retryAfter: .seconds(1)), .unreachable, .unknown(costsGrants: true), .abandoned,
            .credentialsRefused(Self.grant(1), isByName: true), .codeRefused, .requestRefused, .nothing,
        ] {
            var health = ProviderHealth()
            health.on(event, of: Self.attempt(1), at: Self.start, spread: 0)
            health.on(
                .succeeded(Self.grant(2)), of: Self.attempt(2), at: Self.start.advanced(by: .seconds(2)), spread: 0)
            health.recoverySince = nil
            #expect(health.isClean, "\(event)")
        }
    }

    @Test(
        "what came before the first death counts: with 19 others the eleventh death is too many, with four the fifth",
        arguments: [(19, 11), (25, 11), (4, 5), (0, 5), (6, 7), (10, 11)])
    func recalled(earlier: Int, deaths: Int) {
        var health = ProviderHealth()
        let known = (0..<earlier).map { Self.id(UInt64(1000 + $0)) }
        health.recall(known, at: Self.start)
        for number in 1...deaths {
            #expect(health.brakeSince == nil, "after \(number - 1)")
            health.on(
                .declaredDead(Self.grant(UInt64(number))), of: Self.attempt(1), at: Self.at(number), spread: 0)
        }
        #expect(health.brakeSince == Self.at(deaths))
        #expect(health.verdicts.verdicts.count == min(20, earlier + deaths))
    }

    @Test("a window of verdicts is read back as it was written")
    func windowText() {
        var health = ProviderHealth()
        for number in 0..<30 as Range<UInt64> {
            let event: HealthEvent =
                number % 2 == 0 ? .declaredDead(Self.grant(number)) : .succeeded(Self.grant(number))
            health.on(event, of: Self.attempt(number), at: Self.start, spread: 0)
        }
        #expect(health.verdicts.verdicts.count == 20)
        #expect(VerdictWindow(text: health.verdicts.text) == health.verdicts)
        #expect(VerdictWindow(text: "x,d12,,a") == VerdictWindow())
    }

    @Test("whatever the clock does, nobody is kept waiting for longer than an hour, and somebody may always try")
    func jumpingClocks() {
        var numbers = Numbers(state: 7)
        for _ in 0..<300 {
            var health = ProviderHealth()
            var now = Self.start
            for _ in 0..<60 {
                now = now.advanced(by: numbers.jump())
                health.on(numbers.event(), of: Self.attempt(numbers.below(8)), at: now, spread: 0.5)
                if health.permit(.refresh, at: now) == .trial {
                    health.begin(Self.attempt(numbers.below(8)), for: .seconds(120), at: now)
                }
                for asker in [ProviderAsker.exchange, .refresh, .operatorsRefresh] {
                    if case .blocked(let until, _) = health.permit(asker, at: now) {
                        #expect(until > now && until <= now.advanced(by: .seconds(3600)))
                    }
                }
                var (after, waits) = (now, 0)
                while case .blocked(let until, _) = health.permit(.refresh, at: after) {
                    after = until
                    waits += 1
                    if waits > 1000 { break }
                }
                #expect(waits <= 1000 && after <= now.advanced(by: .seconds(2 * 3600 + 300)))
            }
        }
    }

    private static func at(_ second: Int) -> Instant { start.advanced(by: .seconds(second)) }

    private static func word(_ permit: CallPermit) -> String {
        switch permit {
        case .free: "free"
        case .trial: "trial"
        case .blocked(let until, let reason): "\(reason.rawValue) \(start.duration(to: until).wholeSeconds)"
        }
    }
}

/// Numbers that are the same in each run.
private struct Numbers {
    var state: UInt64

    mutating func below(_ bound: UInt64) -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return (state >> 33) % bound
    }

    /// Mostly forward by seconds; now and then by hours or days, either way.
    mutating func jump() -> Duration {
        switch below(10) {
        case 0: .seconds(-Int64(below(200_000)))
        case 1: .seconds(Int64(below(200_000)))
        default: .seconds(Int64(below(40)))
        }
    }

    mutating func event() -> HealthEvent {
        let witness = ProviderHealthTests.grant(below(30))
        switch below(8) {
        case 0: return .throttled(retryAfter: below(2) == 0 ? nil : .seconds(Int64(below(100_000))))
        case 1: return .unreachable
        case 2: return .unknown(costsGrants: below(2) == 0)
        case 3: return .credentialsRefused(witness, isByName: below(2) == 0)
        case 4, 5: return .declaredDead(witness)
        case 6: return .requestRefused
        default: return .succeeded(witness)
        }
    }
}
