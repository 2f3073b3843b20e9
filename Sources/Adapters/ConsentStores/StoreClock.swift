// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeSystem
internal import Synchronization

/// The clock that all instances on one server go by: the server's, read each time an instance tells that it lives, and
/// counted on in between by the machine's time since its start, which nobody sets.
///
/// Gates, trials and due times are written and compared by it, so that a machine whose own clock is wrong neither asks
/// a provider too early nor keeps the others waiting. It is off by less than the time that a reading may take.
package final class StoreClock: Sendable {
    /// Milliseconds since 1970 less those since the machine's start; ``none`` before the first reading.
    private let difference = Atomic<Int64>(none)

    private static let none = Int64.min
    /// A reading that takes longer tells less than the last one, milliseconds.
    private static let quick: Int64 = 250

    package init() {}

    /// Nil where the store has no clock of its own, or it was never read.
    package var now: Instant? {
        let known = difference.load(ordering: .relaxed)
        guard known != StoreClock.none else { return nil }
        return Instant(milliseconds: timeSinceBoot().milliseconds + known)
    }

    /// Takes a reading in.
    /// - Parameters:
    ///   - told: the server's milliseconds since 1970.
    ///   - asked: the machine's milliseconds since its start when it was asked.
    ///   - answered: likewise when the answer was there.
    func read(_ told: Int64, asked: Int64, answered: Int64) {
        let isFirst = difference.load(ordering: .relaxed) == StoreClock.none
        guard isFirst || answered - asked < StoreClock.quick else { return }
        difference.store(told - asked, ordering: .relaxed)
    }
}
