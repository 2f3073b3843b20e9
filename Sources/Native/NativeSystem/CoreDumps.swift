// SPDX-License-Identifier: Apache-2.0
internal import CLinux

/// Keeps the memory of this process out of core dumps and from other processes of the same user (prctl(2)
/// `PR_SET_DUMPABLE`, setrlimit(2) `RLIMIT_CORE`). Call it before the first secret is read.
/// - Throws: `SystemCallError` when the kernel refuses.
package func forbidCoreDumps() throws(SystemCallError) {
    guard clinux_forbid_core_dumps() == 0 else { throw .last("prctl") }
}

/// Whether ``forbidCoreDumps()`` holds.
package func areCoreDumpsForbidden() -> Bool { clinux_core_dump_state() == 0 }
