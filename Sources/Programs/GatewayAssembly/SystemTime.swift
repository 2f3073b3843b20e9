// SPDX-License-Identifier: Apache-2.0
package import ConsentStores
package import Consents
package import NativeEventLoop
import NativeSystem

/// The machine's clocks, and waiting on the loop that the caller is on. What time it is a store's server says, once it is
/// known.
package struct SystemTimekeeper: Timekeeper {
    fileprivate let loops: EventLoopGroup
    /// Told by the store that is opened.
    let store: StoreClock

    package init(loops: EventLoopGroup, store: StoreClock) {
        self.loops = loops
        self.store = store
    }

    package var now: Instant { store.now ?? Instant(milliseconds: wallClockMilliseconds()) }
    package var monotonic: Duration { .nanoseconds(MonotonicInstant.now().nanoseconds) }
    package var sinceBoot: Duration { timeSinceBoot() }

    package func sleep(until monotonic: Duration) async throws(CancellationError) {
        let loop = loops.current ?? loops.next()
        try await loop.sleep(until: MonotonicInstant(nanoseconds: monotonic.wholeNanoseconds))
    }
}

/// Starts work on the loop that the caller is on.
package struct LoopLauncher: TaskLauncher {
    fileprivate let loops: EventLoopGroup

    package init(loops: EventLoopGroup) { self.loops = loops }

    package func launch(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        Task(executorPreference: loops.current ?? loops.next()) { await work() }
    }
}

extension LoopLauncher {
    /// Runs the work on a loop and waits for what it comes to; providers can only be asked from there.
    func result<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value {
        await Task(executorPreference: loops.next()) { await work() }.value
    }
}
