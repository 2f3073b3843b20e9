// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// Where the house tells what it does: a constant sentence with keyed facts a line.
///
/// It is handed in through initialisers. Copies share level, format and sink, each has facts of its own.
package struct Log: Sendable {
    private let output: LogOutput
    private let context: [Fact]

    /// - Parameter now: milliseconds since 1970, by the wall clock.
    package init(level: LogLevel, format: LogFormat, sink: any LogSink, now: @escaping @Sendable () -> Int64) {
        output = LogOutput(level: level, format: format, sink: sink, now: now)
        context = []
    }

    private init(_ output: LogOutput, _ context: [Fact]) {
        self.output = output
        self.context = context
    }

    /// The same log with these facts before those of each line.
    package func with(_ facts: [Fact]) -> Log { Log(output, context + facts) }

    /// The level from now on, for this log and every copy of it.
    package func setLevel(_ level: LogLevel) { output.least.store(level.rank, ordering: .relaxed) }

    /// How many lines the sink did not take, since the start.
    package var lostLines: Int { output.lostInAll.load(ordering: .relaxed) }

    package func isWritten(_ level: LogLevel) -> Bool { level.rank >= output.least.load(ordering: .relaxed) }

    /// What helps in finding a fault.
    package func debug(_ sentence: StaticString, _ facts: @autoclosure () -> [Fact] = []) {
        write(.debug, sentence, facts)
    }
    /// What happens all day.
    package func info(_ sentence: StaticString, _ facts: @autoclosure () -> [Fact] = []) {
        write(.info, sentence, facts)
    }
    /// What an operator wants to know of, though nothing is wrong: started, reloaded, adopted after a crash.
    package func notice(_ sentence: StaticString, _ facts: @autoclosure () -> [Fact] = []) {
        write(.notice, sentence, facts)
    }
    /// What somebody should look at.
    package func warning(_ sentence: StaticString, _ facts: @autoclosure () -> [Fact] = []) {
        write(.warning, sentence, facts)
    }
    /// What somebody must look at.
    package func error(_ sentence: StaticString, _ facts: @autoclosure () -> [Fact] = []) {
        write(.error, sentence, facts)
    }

    /// A line of the given level; the facts are made only where it is written, and those of the request that the work
    /// was begun by (``LogContext``) come last.
    package func write(_ level: LogLevel, _ sentence: StaticString, _ facts: () -> [Fact]) {
        guard isWritten(level) else { return }
        output.write(level, sentence, context, facts(), LogContext.current)
    }
}

/// What the copies of a log share.
private final class LogOutput: Sendable {
    let least: Atomic<Int>
    /// Since the start.
    let lostInAll = Atomic<Int>(0)
    /// Since the last line that told of lost ones.
    private let lost = Atomic<Int>(0)
    private let format: LogFormat
    private let sink: any LogSink
    private let now: @Sendable () -> Int64

    init(level: LogLevel, format: LogFormat, sink: any LogSink, now: @escaping @Sendable () -> Int64) {
        least = Atomic(level.rank)
        self.format = format
        self.sink = sink
        self.now = now
    }

    func write(
        _ level: LogLevel, _ sentence: StaticString, _ standing: [Fact], _ facts: [Fact], _ origin: LogContext?
    ) {
        let line = LogLine(
            milliseconds: now(), level: level, sentence: sentence, standing: standing, facts: facts, origin: origin)
        guard sink.write(line.rendered(as: format)) else {
            lost.add(1, ordering: .relaxed)
            lostInAll.add(1, ordering: .relaxed)
            return
        }
        if lost.load(ordering: .relaxed) > 0 { tellLostLines() }
    }

    /// The first line that is taken after some were lost says how many.
    private func tellLostLines() {
        let count = lost.exchange(0, ordering: .relaxed)
        guard count > 0 else { return }
        let line = LogLine(
            milliseconds: now(), level: .warning, sentence: "log lines were lost", facts: [Fact(.count, count)])
        if !sink.write(line.rendered(as: format)) { lost.add(count, ordering: .relaxed) }
    }
}
