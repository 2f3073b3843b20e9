// SPDX-License-Identifier: Apache-2.0
import Glibc
import NativeSystem
import TestSupport
import Testing

@Suite struct ProcessTests {
    @Test("signals arrive in order, and only one watch can be had")
    func signals() async {
        await #expect(processExitsWith: .success) {
            let mailbox = Mailbox<ProcessSignal>()
            let watch = try SignalWatch([.hangup, .terminate]) { mailbox.post($0) }
            for (number, signal) in [(SIGHUP, ProcessSignal.hangup), (SIGTERM, .terminate), (SIGHUP, .hangup)] {
                kill(getpid(), number)
                guard try await mailbox.next() == signal else { exit(1) }
            }
            if (try? SignalWatch([.hangup]) { _ in }) != nil { exit(2) }
            watch.stop()
            watch.stop()
            let second = try SignalWatch([.hangup]) { mailbox.post($0) }
            kill(getpid(), SIGHUP)
            guard try await mailbox.next() == .hangup else { exit(3) }
            second.stop()
        }
    }

    @Test("descriptors that the process was started without are not given to files")
    func standardDescriptors() async {
        await #expect(processExitsWith: .success) {
            for descriptor in Int32(0)...2 { close(descriptor) }
            occupyStandardDescriptors()
            let next = open("/dev/null", O_RDONLY)
            guard next > 2, !OutputStream.standardOutput.write("lost"), isUnreadable(0) else { exit(1) }
        }
    }

    @Test("a folder in which no file can be made is told before one is made")
    func obstacles() {
        #expect(obstacle(toMakingFilesIn: "/tmp") == nil)
        #expect(obstacle(toWritingFileAt: "/tmp/not-there-\(getpid())") == nil)
        #expect(obstacle(toWritingFileAt: "/dev/null/deeper")?.code == ENOTDIR)
        #expect(obstacle(toMakingFilesIn: "/tmp/not-there-\(getpid())/deep/er") == nil)
        #expect(obstacle(toMakingFilesIn: "not-there-\(getpid())") == nil)
        #expect(obstacle(toMakingFilesIn: "not-there-\(getpid())/deeper") == nil)
        #expect(obstacle(toMakingFilesIn: "")?.code == ENOENT)
        #expect(obstacle(toMakingFilesIn: "/proc/version")?.code == ENOTDIR)
        #expect(obstacle(toMakingFilesIn: "/proc/version/deeper") != nil)
    }

    @Test("no core dump is written once they are forbidden")
    func coreDumps() async {
        await #expect(processExitsWith: .success) {
            try forbidCoreDumps()
            var limit = rlimit()
            let code = getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
            guard code == 0, limit.rlim_cur == 0, limit.rlim_max == 0, areCoreDumpsForbidden() else { exit(1) }
        }
    }

    @Test(
        "moments are written as RFC 3339 has them",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (1_767_323_045_678, "2026-01-02T03:04:05.678Z"),
            (951_782_400_001, "2000-02-29T00:00:00.001Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (Int64.max, "9999-12-31T23:59:59.999Z"), (Int64.min, "0000-01-01T00:00:00.000Z"),
        ])
    func rfc3339(milliseconds: Int64, expected: String) {
        var text: [UInt8] = []
        appendRFC3339(milliseconds: milliseconds, to: &text)
        #expect(String(decoding: text, as: UTF8.self) == expected)
    }

    @Test("the clocks go forward")
    func clocks() {
        #expect(wallClockMilliseconds() > 1_700_000_000_000)
        let boot = timeSinceBoot()
        #expect(boot > .zero && timeSinceBoot() >= boot)
    }
}

private func isUnreadable(_ descriptor: Int32) -> Bool {
    var byte: UInt8 = 0
    return read(descriptor, &byte, 1) < 0
}
