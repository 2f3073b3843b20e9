// SPDX-License-Identifier: Apache-2.0

/// When a document of an issuer is fetched, and which one is used meanwhile. Pure: one state, events in, an action out.
///
/// Times are monotonic. One fetch at a time. What was fetched is fresh for as long as its headers said, within bounds,
/// and stands in for a newer one that cannot be had for a while after. A fetch that failed is followed by a pause, and
/// so is a *search*: a fetch that was made because the document at hand lacked something, however young it was. The
/// first search goes at once, for a provider may change its keys a moment after they were fetched.
package struct DocumentCache<Value: Sendable>: Sendable {
    package let limits: DocumentLimits
    private var held: HeldDocument<Value>?
    /// When the fetch that is under way has begun.
    private var start: Duration?
    /// Whether that one is a search.
    private var isSearch = false
    /// When the last fetch ended.
    private var lastEnd: Duration?
    /// When the last search ended.
    private var lastSearchEnd: Duration?
    private var hasFailed = false
    private var version = 0

    package init(limits: DocumentLimits) { self.limits = limits }

    /// What somebody asks for.
    package enum Want: Sendable, Equatable {
        /// One that is fresh, or the best there is.
        case current
        /// A newer one than that version, for it lacks something.
        case newer(than: Int)
        /// One fetched from now on, for a person asks.
        case forced
    }

    package enum Event: Sendable {
        case wanted(Want)
        /// A fetch has brought this, to be kept that long by its headers; nil where they say nothing.
        case brought(Value, lifetime: Duration?)
        /// A fetch has brought nothing that can be used. What is held stays.
        case failed
    }

    package enum Action: Sendable {
        case use(HeldDocument<Value>)
        /// Fetch it; the event of its end comes later. Whoever asked waits for that.
        case fetch
        /// A fetch is under way: wait for its end.
        case wait
        /// There is none, and it is too early to ask again.
        case unavailable
    }

    /// - Parameter now: monotonic.
    package mutating func on(_ event: Event, now: Duration) -> Action {
        switch event {
        case .wanted(let want): return onWanted(want, now)
        case .brought(let value, let lifetime):
            version += 1
            let fresh = min(max(lifetime ?? limits.shortest, limits.shortest), limits.longest)
            // What the issuer has published while the answer was on its way may not stand in it.
            let document = HeldDocument(
                value: value, version: version, askedAt: start ?? now, freshUntil: now + fresh)
            held = document
            end(now, isFailure: false)
            return .use(document)
        case .failed:
            end(now, isFailure: true)
            return best(now)
        }
    }

    private mutating func end(_ now: Duration, isFailure: Bool) {
        if isSearch { lastSearchEnd = now }
        start = nil
        lastEnd = now
        hasFailed = isFailure
    }

    private mutating func onWanted(_ want: Want, _ now: Duration) -> Action {
        switch want {
        case .current:
            if let held, now < held.freshUntil { return .use(held) }
        case .newer(let version):
            if let held, held.version > version { return .use(held) }
        case .forced: break
        }
        if start != nil { return .wait }
        guard mayFetch(want, now) else { return best(now) }
        start = now
        if case .newer = want { isSearch = true } else { isSearch = false }
        return .fetch
    }

    /// Whether the pause is over that such a wish waits for.
    private func mayFetch(_ want: Want, _ now: Duration) -> Bool {
        let pause = held == nil ? limits.firstPause : limits.pause
        let end: Duration?
        switch want {
        case .forced: return true
        case .newer where !hasFailed: end = lastSearchEnd
        case .newer, .current: end = lastEnd
        }
        return end.map { now >= $0 + pause } ?? true
    }

    /// What there is, unless it is too old.
    private func best(_ now: Duration) -> Action {
        guard let held, now < held.freshUntil + limits.staleFor else { return .unavailable }
        return .use(held)
    }

    /// What there is without asking anybody: the fresh one, or after a fetch the best.
    package func held(now: Duration, fresh: Bool) -> HeldDocument<Value>? {
        if fresh { return held.flatMap { now < $0.freshUntil ? $0 : nil } }
        guard case .use(let document) = best(now) else { return nil }
        return document
    }

    package var isUnderWay: Bool { start != nil }

    /// Whether whoever misses something in the document that is held may find it by asking, or by waiting for what is
    /// asked already.
    package func mayBeSearched(now: Duration) -> Bool { isUnderWay || mayFetch(.newer(than: version), now) }
}

/// A document with its age.
package struct HeldDocument<Value: Sendable>: Sendable {
    package let value: Value
    /// Counts up with each fetch that brought one.
    package let version: Int
    /// When its fetch has begun; monotonic.
    package let askedAt: Duration
    package let freshUntil: Duration
}

/// Bounds of a document's life.
package struct DocumentLimits: Sendable {
    /// How long it is fresh at least, whatever its headers say, and at most.
    package var shortest: Duration
    package var longest: Duration
    /// How long after that it stands in for one that cannot be had.
    package var staleFor: Duration
    /// Between two searches, and after a fetch that failed, while there is one.
    package var pause: Duration
    /// Between two fetches while there is none.
    package var firstPause: Duration

    package init(
        shortest: Duration, longest: Duration, staleFor: Duration, pause: Duration, firstPause: Duration
    ) {
        self.shortest = shortest
        self.longest = longest
        self.staleFor = staleFor
        self.pause = pause
        self.firstPause = firstPause
    }

    /// From an hour to a day, then a week; a minute between two searches, 5 seconds before the first success.
    package static let usual = DocumentLimits(
        shortest: .seconds(3600), longest: .seconds(24 * 3600), staleFor: .seconds(7 * 24 * 3600), pause: .seconds(60),
        firstPause: .seconds(5))
}
