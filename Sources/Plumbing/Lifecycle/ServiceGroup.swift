// SPDX-License-Identifier: Apache-2.0

/// Services that live together: started in order, drained at the same time, stopped in reverse order.
package struct ServiceGroup: Sendable {
    private let services: [any Service]
    private let grace: Duration
    private let stopLimit: Duration
    private let sleep: @Sendable (Duration) async -> Void
    private let tell: @Sendable (ServiceEvent) -> Void

    /// - Parameters:
    ///   - services: those that others need first.
    ///   - grace: how long draining may take, for all of them together.
    ///   - stopLimit: how long one service may take to stop.
    ///   - sleep: returns after that time, or at once where its task is cancelled.
    ///   - tell: what happened, as it happens.
    package init(
        _ services: [any Service], grace: Duration, stopLimit: Duration,
        sleep: @escaping @Sendable (Duration) async -> Void, tell: @escaping @Sendable (ServiceEvent) -> Void
    ) {
        self.services = services
        self.grace = grace
        self.stopLimit = stopLimit
        self.sleep = sleep
        self.tell = tell
    }

    /// Starts all services, waits until `isOver` returns, then drains and stops them.
    ///
    /// - Returns: whether all were drained within the grace.
    /// - Throws: what the first service threw that did not start; those before it have been stopped.
    package func run(until isOver: @Sendable () async -> Void) async throws -> Bool {
        try await start()
        await isOver()
        tell(.draining)
        let isInTime = await isDone(within: grace) { [services] in
            await withTaskGroup { group in
                for service in services { group.addTask { await service.drain() } }
            }
        }
        tell(.drained(inTime: isInTime))
        await stop(services)
        return isInTime
    }

    private func start() async throws {
        for (position, service) in services.enumerated() {
            do {
                try await service.start()
                tell(.started(service.name))
            } catch {
                tell(.startFailed(service.name))
                await stop(Array(services[..<position]))
                throw error
            }
        }
    }

    private func stop(_ started: [any Service]) async {
        for service in started.reversed() {
            let isInTime = await isDone(within: stopLimit) { await service.stop() }
            tell(isInTime ? .stopped(service.name) : .stopOverdue(service.name))
        }
    }

    /// Whether `work` ended before the time was over. It is cancelled then, but not waited for: work that does not heed
    /// its cancellation must not keep the program alive.
    private func isDone(within limit: Duration, _ work: @escaping @Sendable () async -> Void) async -> Bool {
        let race = Race()
        let working = Task {
            await work()
            race.end(true)
        }
        let waiting = Task { [sleep] in
            await sleep(limit)
            race.end(false)
        }
        let isInTime = await race.result()
        working.cancel()
        waiting.cancel()
        return isInTime
    }
}
