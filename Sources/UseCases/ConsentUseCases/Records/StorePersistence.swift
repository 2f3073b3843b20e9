// SPDX-License-Identifier: Apache-2.0
import Consents

/// Writes that must not be given up at the first refusal: what they tell has happened already.
struct StorePersistence: Sendable {
    let time: any Timekeeper

    /// Tries again while the store says that later may do, with pauses that double from 50 ms to 1 s.
    /// - Parameter limit: how long in all.
    func insist<Answer>(
        for limit: Duration, _ write: () async throws(StoreFailure) -> Answer
    ) async throws(StoreFailure) -> Answer {
        let end = time.monotonic + limit
        var pause = Duration.milliseconds(50)
        while true {
            do {
                return try await write()
            } catch {
                guard error.mayPass, time.monotonic + pause < end else { throw error }
                // A flight is never cancelled; if it were, it would only try again sooner.
                try? await time.sleep(until: time.monotonic + pause)
                pause = min(pause * 2, .seconds(1))
            }
        }
    }
}

extension StoreFailure {
    /// Whether the same write may succeed later.
    var mayPass: Bool {
        switch self {
        case .retryLater, .outOfReach: true
        case .schemaIsNewer, .schemaIsOlder, .damaged, .nameTaken: false
        }
    }
}
