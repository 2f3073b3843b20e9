// SPDX-License-Identifier: Apache-2.0
import CLinux
internal import Glibc

/// A moment of `CLOCK_MONOTONIC`, in nanoseconds since an arbitrary start; it never steps back (clock_gettime(2)).
///
/// Instants of one process compare; they mean nothing in another process or after a reboot.
package struct MonotonicInstant: Sendable, Hashable, Comparable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The clock, read now.
    package static func now() -> MonotonicInstant {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicInstant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// This instant moved by `duration`, held within what the type can say.
    package func advanced(by duration: Duration) -> MonotonicInstant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
        guard overflow else { return MonotonicInstant(nanoseconds: sum) }
        return MonotonicInstant(nanoseconds: duration < .zero ? .min : .max)
    }

    /// The time from this instant to `other`; negative when `other` came before.
    package func duration(to other: MonotonicInstant) -> Duration {
        .nanoseconds(other.nanoseconds.subtractingReportingOverflow(nanoseconds).partialValue)
    }

    package static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

extension Duration {
    /// The duration in nanoseconds, rounded down and held within ±292 years.
    package var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflowToo) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflow || overflowToo ? (seconds < 0 ? .min : .max) : sum
    }
}
