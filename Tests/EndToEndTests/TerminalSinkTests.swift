// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Glibc
import NativeSystem
import Testing

@testable import GatewayAssembly

@Suite("Log lines beside a progress")
struct TerminalSinkTests {
    private let bar = "[------------------------] 0/9+  0.0/s  0 failed"

    @Test("a log line takes the progress away and puts it back below itself")
    func line() throws {
        let folder = try makeTemporaryFolder(prefix: "terminal-", in: "/tmp")
        defer { removeFolder(at: folder) }
        let descriptor = open("\(folder)/shown", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let writer = try LineWriter(descriptor: descriptor, capacity: 1 << 20)
        let sink = TerminalSink(writer)
        var progress = RefreshProgress()
        progress.known = 9
        #expect(sink.write(Array("before\n".utf8)))
        sink.show(progress)
        #expect(sink.write(Array("while it moves\n".utf8)))
        progress.isKnownWhole = true
        sink.show(progress)
        sink.erase()
        #expect(sink.write(Array("after\n".utf8)))
        #expect(writer.stop(within: .seconds(10)))
        let shown = String(decoding: try readFile(at: "\(folder)/shown", limit: 4096).bytes, as: UTF8.self)
        let blanks = String(repeating: " ", count: bar.count)
        let whole = bar.replacing("+", with: "")
        #expect(
            shown == "before\n\r\(bar)\r\(blanks)\rwhile it moves\n\r\(bar)\r\(whole) "
                + "\r\(blanks.dropLast())\rafter\n")
    }
}
