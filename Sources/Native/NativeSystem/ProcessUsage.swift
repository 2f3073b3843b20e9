// SPDX-License-Identifier: Apache-2.0
internal import CLinux
internal import Glibc

/// What this process has used of the machine.
package struct ProcessUsage: Sendable {
    /// User and system time together.
    package var cpuSeconds: Double
    package var residentBytes: Int
}

/// Reads `/proc/self/statm` and the process's clock (proc_pid_statm(5), clock_gettime(2)); nil where there is none.
package func processUsage() -> ProcessUsage? {
    var time = timespec()
    guard unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0,
        let text = try? readFile(at: "/proc/self/statm", limit: 4096)
    else { return nil }
    let words = String(decoding: text.bytes, as: UTF8.self).split(separator: " ")
    guard words.count > 1, let pages = Int(words[1]) else { return nil }
    return ProcessUsage(
        cpuSeconds: Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000,
        residentBytes: pages * Int(sysconf(Int32(_SC_PAGESIZE))))
}

/// How many descriptors the process has open, less the one that counting takes; nil where `/proc` is not there.
package func openFileCount() -> Int? {
    (try? names(inDirectory: "/proc/self/fd")).map { $0.count - 1 }
}
