// SPDX-License-Identifier: Apache-2.0
package import Glibc

/// A program that a test starts beside itself: its standard output can be read, it is killed with the object.
///
/// Not Foundation's `Process`: that one reads past the end of a `dirent` while it lists the open descriptors, and with
/// the thousand sockets of a load test beside it this ends the test program with SIGSEGV. Here the child gets the
/// three standard descriptors and no other, no blocked signal, and every signal's default effect.
package final class ChildProcess {
    package struct StartFailure: Error {
        package let code: Int32
    }

    package let processID: pid_t
    private let output: Int32
    private var status: Int32?

    /// - Parameters:
    ///   - arguments: the program's path, then its arguments.
    /// - Throws: `StartFailure` with the error number of `posix_spawn`.
    package init(_ arguments: [String]) throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw StartFailure(code: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        output = ends[0]
        defer { close(ends[1]) }
        do {
            processID = try ChildProcess.spawn(arguments, output: ends[1])
        } catch {
            close(ends[0])
            throw error
        }
    }

    deinit {
        if status == nil {
            kill(processID, SIGKILL)
            wait()
        }
        close(output)
    }

    /// Some bytes of the standard output, as soon as there are any; empty at its end.
    package func read() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(output, &bytes, bytes.count)
        let read = Array(bytes.prefix(max(0, count)))
        Canary.keep(read, in: .children)
        return read
    }

    package func signal(_ number: Int32) {
        if status == nil { kill(processID, number) }
    }

    /// Waits for the end.
    /// - Returns: the exit status, or 128 and the number of the signal that ended it.
    @discardableResult
    package func wait() -> Int32 {
        if let status { return status }
        var word: Int32 = 0
        while waitpid(processID, &word, 0) == -1 && errno == EINTR {}
        let ended = word & 0x7F == 0 ? (word >> 8) & 0xFF : 128 + (word & 0x7F)
        status = ended
        return ended
    }

    /// More than the suite ever has open.
    private static var highestDescriptor: UInt {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return min(limit.rlim_cur, 16_384)
    }

    private static func spawn(_ arguments: [String], output: Int32) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        // Swift's Glibc has no `…_addclosefrom_np`. Closing a number that is not open is no failure here.
        for number in 3..<Int32(ChildProcess.highestDescriptor) { posix_spawn_file_actions_addclose(&actions, number) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        let code = posix_spawn(&child, arguments[0], &actions, &attributes, &words, environ)
        guard code == 0 else { throw StartFailure(code: code) }
        return child
    }
}
