// SPDX-License-Identifier: Apache-2.0
import NativeSystem
import Testing

@Suite("The lock, the clock and the limit of files")
struct LockedAndClockTests {
    @Test("a lock lets one thread in at a time")
    func exclusion() async {
        let sum = Locked(0)
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<1_000 { sum.withLock { $0 += 1 } } }
            }
        }
        #expect(sum.withLock { $0 } == 8_000)
    }

    @Test("a lock is left when its body throws")
    func leavesOnThrow() {
        struct Refused: Error {}
        let value = Locked(1)
        #expect(throws: Refused.self) { try value.withLock { _ throws(Refused) in throw Refused() } }
        #expect(value.withLock { $0 } == 1)
    }

    @Test("the clock does not step back, and counts nanoseconds")
    func clock() {
        let earlier = MonotonicInstant.now()
        let later = MonotonicInstant.now()
        #expect(earlier <= later)
        #expect(earlier.advanced(by: .milliseconds(3)).nanoseconds == earlier.nanoseconds + 3_000_000)
        #expect(earlier.duration(to: earlier.advanced(by: .microseconds(-7))) == .microseconds(-7))
    }

    @Test("durations beyond what nanoseconds can say stop at the end, they do not wrap")
    func extremes() {
        let now = MonotonicInstant.now()
        #expect(now.advanced(by: .seconds(Int64.max)).nanoseconds == .max)
        #expect(MonotonicInstant(nanoseconds: -10).advanced(by: .seconds(Int64.min)).nanoseconds == .min)
        #expect(Duration.seconds(Int64.max).wholeNanoseconds == .max)
    }

    @Test("the limit of open files is raised as far as the hard limit lets it")
    func fileLimit() throws {
        let limit = try raiseFileLimit(atLeast: 256)
        #expect(limit >= 256)
        #expect(try raiseFileLimit(atLeast: 0) == limit)
    }
}
