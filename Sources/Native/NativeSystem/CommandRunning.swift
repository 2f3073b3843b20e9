// SPDX-License-Identifier: Apache-2.0
internal import CLinux
internal import Glibc

/// Why a command gave no output that can be used.
package enum CommandFailure: Error, Sendable, Equatable {
    /// An `errno`: not found, not executable.
    case cannotStart(code: Int32)
    case timedOut
    case outputTooLarge(limit: Int)
    /// Ended with a status other than 0.
    case exited(status: Int32)
    case killed(signal: Int32)

    /// What it says to a person, without the command.
    package var sentence: String {
        switch self {
        case .cannotStart(let code): "cannot be started: \(systemErrorSentence(code))"
        case .timedOut: "did not end in time"
        case .outputTooLarge(let limit): "printed more than \(limit) bytes"
        case .exited(let status): "ended with status \(status)"
        case .killed(let signal): "was ended by signal \(signal)"
        }
    }
}

/// Runs a program without a shell and gives what it prints.
///
/// Standard input is empty, standard error is ours. The program gets a process group of its own, which is killed when
/// the time is over, and no blocked signals. It is looked for in `PATH` if its name has no slash.
/// - Parameters:
///   - arguments: program and arguments; at least one, none with a NUL.
///   - limit: most bytes that it may print.
///   - timeout: for all of it, on the monotonic clock.
/// - Throws: ``CommandFailure``; nothing is left running.
package func runCommand(
    _ arguments: [String], environment: [String: String], limit: Int, timeout: Duration
) throws(CommandFailure) -> [UInt8] {
    let deadline = ContinuousClock.now + timeout
    let (reading, writing) = try makePipe()
    defer { _ = close(reading) }
    let child: pid_t
    do {
        defer { _ = close(writing) }
        child = try spawn(arguments, environment: environment, output: writing)
    }
    do {
        let output = try collect(from: reading, limit: limit, until: deadline)
        try wait(for: child, until: deadline)
        return output
    } catch {
        if error == .timedOut || error == .outputTooLarge(limit: limit) { end(child) }
        throw error
    }
}

/// Glibc's Swift module lacks `pipe2`. Between the two calls no other child is started: this function is the only
/// one that starts any.
private func makePipe() throws(CommandFailure) -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw .cannotStart(code: errno) }
    for end in ends where fcntl(end, F_SETFD, FD_CLOEXEC) != 0 { throw .cannotStart(code: errno) }
    return (ends[0], ends[1])
}

private func spawn(
    _ arguments: [String], environment: [String: String], output: Int32
) throws(CommandFailure) -> pid_t {
    guard let program = arguments.first else { throw .cannotStart(code: ENOENT) }
    var actions = unsafe posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    guard unsafe posix_spawn_file_actions_init(&actions) == 0 else { throw .cannotStart(code: ENOMEM) }
    defer { _ = unsafe posix_spawn_file_actions_destroy(&actions) }
    guard unsafe posix_spawnattr_init(&attributes) == 0 else { throw .cannotStart(code: ENOMEM) }
    defer { _ = unsafe posix_spawnattr_destroy(&attributes) }
    let prepared = unsafe prepare(&actions, &attributes, output: output)
    guard prepared == 0 else { throw .cannotStart(code: prepared) }

    let variables = environment.map { "\($0.key)=\($0.value)" }
    var child: pid_t = 0
    let code = unsafe withCStrings(arguments) { argv in
        unsafe withCStrings(variables) { envp in
            unsafe posix_spawnp(&child, program, &actions, &attributes, argv, envp)
        }
    }
    guard code == 0 else { throw .cannotStart(code: code) }
    return child
}

/// Empty input, our pipe as output, a process group of its own, all signals at their default and none blocked.
private func prepare(
    _ actions: inout posix_spawn_file_actions_t, _ attributes: inout posix_spawnattr_t, output: Int32
) -> Int32 {
    var none = sigset_t()
    var all = sigset_t()
    _ = unsafe sigemptyset(&none)
    _ = unsafe sigfillset(&all)
    let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
    let codes = unsafe [
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0),
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO),
        posix_spawnattr_setpgroup(&attributes, 0),
        posix_spawnattr_setsigmask(&attributes, &none),
        posix_spawnattr_setsigdefault(&attributes, &all),
        posix_spawnattr_setflags(&attributes, Int16(flags)),
    ]
    return codes.first { $0 != 0 } ?? 0
}

private func collect(
    from descriptor: Int32, limit: Int, until deadline: ContinuousClock.Instant
) throws(CommandFailure) -> [UInt8] {
    var output: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
        try waitReadable(descriptor, until: deadline)
        let count = unsafe read(descriptor, &chunk, chunk.count)
        if count == 0 { return output }
        if count < 0 {
            if errno == EINTR { continue }
            return output
        }
        guard output.count + count <= limit else { throw .outputTooLarge(limit: limit) }
        output += chunk[..<count]
    }
}

private func waitReadable(_ descriptor: Int32, until deadline: ContinuousClock.Instant) throws(CommandFailure) {
    while true {
        let left = ContinuousClock.now.duration(to: deadline)
        guard left > .zero else { throw .timedOut }
        let milliseconds = min(left / .milliseconds(1), 60_000)
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        if unsafe poll(&entry, 1, Int32(milliseconds) + 1) > 0 { return }
    }
}

/// Its output has ended; waits for the program itself. There is no descriptor to wait on before glibc 2.36, so it
/// looks every 2 ms: this runs at start and on SIGHUP only.
private func wait(for child: pid_t, until deadline: ContinuousClock.Instant) throws(CommandFailure) {
    var status: Int32 = 0
    while true {
        let result = unsafe waitpid(child, &status, WNOHANG)
        if result == child { break }
        if result < 0 && errno != EINTR { throw .cannotStart(code: errno) }
        guard ContinuousClock.now < deadline else { throw .timedOut }
        _ = poll(nil, 0, 2)
    }
    let signal = status & 0x7f
    guard signal == 0 else { throw .killed(signal: signal) }
    let code = (status >> 8) & 0xff
    guard code == 0 else { throw .exited(status: code) }
}

private func end(_ child: pid_t) {
    _ = kill(-child, SIGKILL)
    var status: Int32 = 0
    while unsafe waitpid(child, &status, 0) < 0 && errno == EINTR {}
}

/// A NULL-terminated array of C strings that lives as long as `body` runs.
private func withCStrings<Result>(
    _ texts: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    var pointers = unsafe texts.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    return unsafe pointers.withUnsafeMutableBufferPointer { unsafe body($0.baseAddress!) }
}
