// SPDX-License-Identifier: Apache-2.0
import NativeSystem
import Testing

@Suite("Commands without a shell")
struct CommandRunningTests {
    private func run(
        _ arguments: [String], environment: [String: String] = [:], limit: Int = 4096, timeout: Duration = .seconds(20)
    ) throws(CommandFailure) -> String {
        let output = try runCommand(arguments, environment: environment, limit: limit, timeout: timeout)
        return String(decoding: output, as: UTF8.self)
    }

    @Test("arguments arrive as they are: nothing is expanded or split")
    func noShell() throws {
        #expect(try run(["printf", "%s|", "$HOME *", "; id", "é"]) == "$HOME *|; id|é|")
    }

    @Test("the program sees the variables that were given, and no others")
    func variables() throws {
        #expect(try run(["env"], environment: ["ONLY": "this=one"]) == "ONLY=this=one\n")
    }

    @Test("standard input is empty")
    func noInput() throws {
        #expect(try run(["cat"]) == "")
    }

    @Test("a status other than 0 is a failure, whatever was printed")
    func status() {
        #expect(throws: CommandFailure.exited(status: 7)) { try run(["sh", "-c", "echo secret; exit 7"]) }
        #expect(throws: CommandFailure.killed(signal: 9)) { try run(["sh", "-c", "kill -9 $$"]) }
    }

    @Test("a program that is not there cannot be started")
    func missing() {
        #expect(throws: CommandFailure.cannotStart(code: 2)) { try run(["/nowhere/at/all"]) }
        #expect(throws: CommandFailure.self) { try run([]) }
    }

    @Test("a program that takes too long is ended, also one that has closed its output")
    func timeout() {
        #expect(throws: CommandFailure.timedOut) { try run(["sleep", "600"], timeout: .milliseconds(50)) }
        #expect(throws: CommandFailure.timedOut) {
            try run(["sh", "-c", "exec >&-; sleep 600"], timeout: .milliseconds(50))
        }
    }

    @Test("a program that prints too much is ended")
    func limit() {
        #expect(throws: CommandFailure.outputTooLarge(limit: 100)) { try run(["yes"], limit: 100) }
    }

    @Test("the environment of this process is read by name")
    func environment() {
        #expect(processEnvironment()["PATH"]?.isEmpty == false)
    }
}
