// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeSystem

/// One document of an issuer as the cache has it, fetched when the cache says so: one fetch for all who wait.
///
/// The fetch goes on when whoever began it hangs up. Nothing is held under the lock while it is under way.
final class RemoteDocument<Value: Sendable>: Sendable {
    typealias Held = HeldDocument<Value>

    /// What a fetch brought.
    enum Brought: Sendable {
        case value(Value, lifetime: Duration?)
        case failed(DocumentFault)
    }

    private struct State: Sendable {
        var cache: DocumentCache<Value>
        var waiting: [CheckedContinuation<Void, Never>] = []
        var lastFault: DocumentFault?
    }

    private let state: Locked<State>
    private let time: any Timekeeper
    private let launcher: any TaskLauncher
    private let fetch: @Sendable () async -> Brought
    private let tell: FetchTelling

    init(
        limits: DocumentLimits, time: any Timekeeper, launcher: any TaskLauncher, tell: @escaping FetchTelling,
        fetch: @escaping @Sendable () async -> Brought
    ) {
        state = Locked(State(cache: DocumentCache(limits: limits)))
        self.time = time
        self.launcher = launcher
        self.tell = tell
        self.fetch = fetch
    }

    /// The fresh one, if there is one: nobody is asked and nobody waits.
    var fresh: Held? {
        let now = time.monotonic
        return state.withLock { $0.cache.held(now: now, fresh: true) }
    }

    /// Why the last fetch failed; nil after one that did not.
    var lastFault: DocumentFault? { state.withLock { $0.lastFault } }

    /// Whether a newer one may be had now than the one that is held.
    var mayBeSearched: Bool {
        let now = time.monotonic
        return state.withLock { $0.cache.mayBeSearched(now: now) }
    }

    /// - Returns: the document, which may be an older one than was wanted where no newer can be had now.
    func document(_ want: DocumentCache<Value>.Want) async -> Result<Held, DocumentFault> {
        let now = time.monotonic
        switch state.withLock({ $0.cache.on(.wanted(want), now: now) }) {
        case .use(let held): return .success(held)
        case .unavailable: return .failure(lastFault ?? .tooEarly)
        case .fetch:
            launcher.launch { await self.run() }
            return await outcome()
        case .wait: return await outcome()
        }
    }

    private func run() async {
        let brought = await fetch()
        let now = time.monotonic
        let waiting = state.withLock { state in
            switch brought {
            case .value(let value, let lifetime):
                _ = state.cache.on(.brought(value, lifetime: lifetime), now: now)
                state.lastFault = nil
            case .failed(let fault):
                _ = state.cache.on(.failed, now: now)
                state.lastFault = fault
            }
            defer { state.waiting = [] }
            return state.waiting
        }
        if case .failed(let fault) = brought { tell(fault) } else { tell(nil) }
        for continuation in waiting { continuation.resume() }
    }

    /// Once the fetch that is under way has ended.
    private func outcome() async -> Result<Held, DocumentFault> {
        await withCheckedContinuation { continuation in
            let isUnderWay = state.withLock { state in
                if state.cache.isUnderWay { state.waiting.append(continuation) }
                return state.cache.isUnderWay
            }
            if !isUnderWay { continuation.resume() }
        }
        let now = time.monotonic
        let held = state.withLock { $0.cache.held(now: now, fresh: false) }
        if let held { return .success(held) }
        return .failure(lastFault ?? .tooEarly)
    }
}

/// Hears of each fetch when it ends: why it failed, or nil.
package typealias FetchTelling = @Sendable (DocumentFault?) -> Void
