// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import IdentityTokens

private func word(_ action: DocumentCache<String>.Action) -> String {
    switch action {
    case .use(let held): "use \(held.value)"
    case .fetch: "fetch"
    case .wait: "wait"
    case .unavailable: "unavailable"
    }
}

/// An event, when it comes, and what is to be done.
private struct Step {
    let at: Int64
    let event: DocumentCache<String>.Event
    let action: String

    init(_ at: Int64, _ event: DocumentCache<String>.Event, _ action: String) {
        (self.at, self.event, self.action) = (at, event, action)
    }
}

private func play(_ steps: [Step], line: SourceLocation = #_sourceLocation) {
    var cache = DocumentCache<String>(limits: .usual)
    for (number, step) in steps.enumerated() {
        let action = cache.on(step.event, now: .seconds(step.at))
        #expect(word(action) == step.action, "step \(number)", sourceLocation: line)
    }
}

private let hour: Int64 = 3600
private let day: Int64 = 86_400

@Suite struct DocumentCacheTests {
    @Test("it is fetched once, used for an hour at least, and fetched again")
    func life() {
        play([
            Step(0, .wanted(.current), "fetch"), Step(0, .wanted(.current), "wait"),
            Step(1, .brought("a", lifetime: nil), "use a"), Step(1, .wanted(.current), "use a"),
            Step(hour, .wanted(.current), "use a"), Step(hour + 1, .wanted(.current), "fetch"),
            Step(hour + 2, .brought("b", lifetime: .seconds(7200)), "use b"),
            Step(3 * hour + 1, .wanted(.current), "use b"), Step(3 * hour + 2, .wanted(.current), "fetch"),
        ])
    }

    @Test("headers make it fresh for an hour at least and a day at most")
    func bounds() {
        play([
            Step(0, .wanted(.current), "fetch"), Step(0, .brought("a", lifetime: .zero), "use a"),
            Step(hour - 1, .wanted(.current), "use a"), Step(hour, .wanted(.current), "fetch"),
            Step(hour, .brought("b", lifetime: .seconds(100 * day)), "use b"),
            Step(hour + day - 1, .wanted(.current), "use b"), Step(hour + day, .wanted(.current), "fetch"),
        ])
    }

    @Test("while nothing newer can be had the old one stands in for a week, and is asked for once a minute")
    func stale() {
        play([
            Step(0, .wanted(.current), "fetch"), Step(0, .brought("a", lifetime: nil), "use a"),
            Step(hour, .wanted(.current), "fetch"), Step(hour + 1, .failed, "use a"),
            Step(hour + 2, .wanted(.current), "use a"), Step(hour + 60, .wanted(.current), "use a"),
            Step(hour + 61, .wanted(.current), "fetch"), Step(hour + 62, .failed, "use a"),
            Step(hour + 7 * day - 1, .wanted(.current), "fetch"), Step(hour + 7 * day, .failed, "unavailable"),
            Step(hour + 7 * day + 1, .wanted(.current), "unavailable"),
        ])
    }

    @Test("without any it is asked for every five seconds")
    func first() {
        play([
            Step(0, .wanted(.current), "fetch"), Step(1, .failed, "unavailable"),
            Step(5, .wanted(.current), "unavailable"), Step(5, .wanted(.newer(than: 0)), "unavailable"),
            Step(6, .wanted(.current), "fetch"),
        ])
    }

    @Test("a newer one is fetched at once, however young the old one is, and then once a minute, whoever asks")
    func newer() {
        play([
            Step(0, .wanted(.current), "fetch"), Step(0, .brought("a", lifetime: nil), "use a"),
            Step(0, .wanted(.newer(than: 1)), "fetch"), Step(0, .wanted(.newer(than: 1)), "wait"),
            Step(0, .wanted(.current), "use a"), Step(1, .brought("b", lifetime: nil), "use b"),
            Step(2, .wanted(.newer(than: 1)), "use b"), Step(60, .wanted(.newer(than: 2)), "use b"),
            Step(61, .wanted(.newer(than: 2)), "fetch"), Step(62, .failed, "use b"),
            Step(121, .wanted(.newer(than: 2)), "use b"), Step(122, .wanted(.newer(than: 2)), "fetch"),
        ])
    }

    @Test("a fetch that was due counts as no search; one that failed does")
    func newerThanDue() {
        play([
            Step(0, .wanted(.current), "fetch"), Step(0, .brought("a", lifetime: nil), "use a"),
            Step(hour, .wanted(.current), "fetch"), Step(hour + 1, .failed, "use a"),
            Step(hour + 60, .wanted(.newer(than: 1)), "use a"), Step(hour + 61, .wanted(.newer(than: 1)), "fetch"),
            Step(hour + 62, .failed, "use a"), Step(hour + 63, .wanted(.current), "use a"),
            Step(hour + 122, .wanted(.current), "fetch"), Step(hour + 122, .brought("b", lifetime: nil), "use b"),
            Step(hour + 122, .wanted(.newer(than: 2)), "fetch"),
        ])
    }

    @Test("a person's wish waits for no pause, and its failure wipes nothing")
    func forced() {
        play([
            Step(0, .wanted(.current), "fetch"), Step(0, .brought("a", lifetime: nil), "use a"),
            Step(1, .wanted(.forced), "fetch"), Step(1, .wanted(.forced), "wait"), Step(2, .failed, "use a"),
            Step(3, .wanted(.forced), "fetch"), Step(3, .brought("b", lifetime: nil), "use b"),
        ])
    }

    @Test("whatever happens, one fetch is under way at a time, and what was brought last is used")
    func property() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            var cache = DocumentCache<Int>(limits: .usual)
            var (now, fetches, isUnderWay, last): (Int64, [Int64], Bool, Int?) = (0, [], false, nil)
            for step in 0..<200 {
                now += [0, 1, 30, 3600, 86_400].randomElement(using: &random) ?? 0
                if isUnderWay, Bool.random(using: &random) {
                    isUnderWay = false
                    if Bool.random(using: &random) {
                        _ = cache.on(.brought(step, lifetime: nil), now: .seconds(now))
                        last = step
                    } else {
                        _ = cache.on(.failed, now: .seconds(now))
                    }
                    continue
                }
                let want: DocumentCache<Int>.Want = Bool.random(using: &random) ? .current : .newer(than: step)
                switch cache.on(.wanted(want), now: .seconds(now)) {
                case .fetch:
                    #expect(!isUnderWay)
                    isUnderWay = true
                    fetches.append(now)
                case .wait: #expect(isUnderWay)
                case .use(let held): #expect(held.value == last)
                case .unavailable: #expect(!isUnderWay)
                }
            }
            // One that was due, and a search after it.
            for (earlier, later) in zip(fetches, fetches.dropFirst(2)) { #expect(later - earlier >= 5) }
        }
    }
}
