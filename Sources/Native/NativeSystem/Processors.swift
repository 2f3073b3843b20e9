// SPDX-License-Identifier: Apache-2.0
internal import CLinux
internal import Glibc

/// How many processors this process may use at once (sched_getaffinity(2)); at least 1.
package func processorCount() -> Int { max(1, Int(clinux_processor_count())) }
