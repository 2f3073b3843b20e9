// SPDX-License-Identifier: Apache-2.0
import Glibc
import NativeSystem

/// Blocks this thread until the condition holds, 20 s at most; for scripts that run on a thread of their own.
package func blockUntil(_ condition: () -> Bool) {
    let end = MonotonicInstant.now().advanced(by: .seconds(20) * patience())
    while !condition(), MonotonicInstant.now() < end { sched_yield() }
}
