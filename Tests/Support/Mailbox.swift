// SPDX-License-Identifier: Apache-2.0
import Dispatch
import NativeSystem

/// Events for a test to wait for: posted from any thread, taken in order, each wait with a deadline.
package final class Mailbox<Event: Sendable>: Sendable {
    /// Nothing came in time.
    package struct Empty: Error {}

    private let events = Locked<[Event]>([])
    private let count = DispatchSemaphore(value: 0)

    package init() {}

    package func post(_ event: Event) {
        events.withLock { $0.append(event) }
        count.signal()
    }

    /// The next event.
    ///
    /// - Throws: `Empty` when none came within `limit`.
    package func next(within limit: Duration = .seconds(10)) async throws -> Event {
        try await onOwnThread { [self] in
            guard count.wait(timeout: .now() + .nanoseconds(Int(limit.wholeNanoseconds))) == .success else {
                throw Empty()
            }
            return events.withLock { $0.removeFirst() }
        }
    }

    /// The next `number` events.
    package func next(_ number: Int, within limit: Duration = .seconds(10)) async throws -> [Event] {
        let deadline = MonotonicInstant.now().advanced(by: limit)
        var taken: [Event] = []
        while taken.count < number {
            taken.append(try await next(within: MonotonicInstant.now().duration(to: deadline)))
        }
        return taken
    }

    /// Whether nothing is there now.
    package var isEmpty: Bool {
        events.withLock { $0.isEmpty }
    }
}
