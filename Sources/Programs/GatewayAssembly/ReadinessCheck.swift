// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import ConsentUseCases
import Consents

/// Whether the store takes work, told within a second. A look that takes longer, at a lock that is held or a disk that
/// hangs, says no; it goes on, and whoever asks meanwhile shares it.
struct ReadinessCheck: Sendable {
    private enum Look: Hashable, Sendable { case store }

    /// As long as Kubernetes waits for a probe, less what the way takes.
    private static let limit = Duration.milliseconds(900)

    private let store: SQLStore
    private let time: any Timekeeper
    private let looks: FlightTable<Look, Bool>

    init(_ store: SQLStore, time: any Timekeeper, launcher: any TaskLauncher) {
        self.store = store
        self.time = time
        looks = FlightTable(time: time, launcher: launcher)
    }

    func isReady() async -> Bool {
        let deadline = time.monotonic + ReadinessCheck.limit
        return await looks.share(.store, owner: nil, until: deadline) { [store] in await store.storeIsReady() }.outcome
            ?? false
    }
}
