// SPDX-License-Identifier: Apache-2.0
import Glibc
import NativeSystem
import Testing

@Suite struct LineWriterTests {
    @Test("lines of many threads arrive whole, each once")
    func wholeLines() async throws {
        let pipe = try TestPipe()
        let writer = try LineWriter(descriptor: pipe.writing, capacity: 16 << 20)
        await withTaskGroup { group in
            for task in 0..<4 {
                group.addTask {
                    for number in 0..<500 { _ = writer.append(Array("task \(task) line \(number)\n".utf8)) }
                }
            }
        }
        async let text = pipe.readToEnd()
        #expect(writer.stop(within: .seconds(10)))
        pipe.closeWriting()
        let lines = try await text.split(separator: "\n").map(String.init)
        #expect(lines.count == 2000)
        #expect(Set(lines) == Set((0..<4).flatMap { task in (0..<500).map { "task \(task) line \($0)" } }))
    }

    @Test("a reader that does not read costs lines and holds nobody up")
    func fullPipe() throws {
        let pipe = try TestPipe()
        let writer = try LineWriter(descriptor: pipe.writing, capacity: 10_000)
        let line = [UInt8](repeating: 0x78, count: 999) + [0x0A]
        var taken = 0
        while writer.flush(within: .milliseconds(50)), writer.append(line) { taken += 1 }
        #expect(taken < 200)
        #expect((0..<1000).count { _ in writer.append(line) } <= 10)
        pipe.closeReading()
        #expect(writer.stop(within: .seconds(10)))
        #expect(!writer.append(line))
    }
}

/// A pipe whose ends close on their own.
final class TestPipe: Sendable {
    let writing: Int32
    private let reading: Int32
    private let isOpen = Locked((reading: true, writing: true))

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SystemCallError.last("pipe") }
        (reading, writing) = (ends[0], ends[1])
    }

    deinit {
        closeReading()
        closeWriting()
    }

    func closeReading() {
        isOpen.withLock { open in
            if open.reading { close(reading) }
            open.reading = false
        }
    }

    func closeWriting() {
        isOpen.withLock { open in
            if open.writing { close(writing) }
            open.writing = false
        }
    }

    @concurrent func readToEnd() async throws -> String {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(reading, &part, part.count)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += part[..<count]
        }
    }
}
