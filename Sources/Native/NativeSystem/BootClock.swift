// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// Time since this machine was started, sleep included (`CLOCK_BOOTTIME`, clock_gettime(2)): the same for all its
/// processes, and never set.
package struct BootClock: Sendable {
    /// Which start of the machine it counts from; instants of two boots do not compare (random(4)).
    package let boot: String

    /// - Throws: where `/proc` does not tell the boot's identifier.
    package init() throws(FileReadingFailure) {
        let contents = try readFile(at: "/proc/sys/kernel/random/boot_id", limit: 128)
        boot = String(decoding: contents.bytes.prefix { $0 != 0x0A }, as: UTF8.self)
    }

    /// Milliseconds since the machine's start.
    package var milliseconds: Int64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
