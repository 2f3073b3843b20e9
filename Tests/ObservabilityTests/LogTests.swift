// SPDX-License-Identifier: Apache-2.0
import NativeJSON
import Observability
import TestSupport
import Testing

@Suite struct LogTests {
    private let sink = MemorySink()

    private func log(_ format: LogFormat, level: LogLevel = .debug) -> Log {
        Log(level: level, format: format, sink: sink) { 1_767_323_045_678 }
    }

    @Test("a line of text has time, level, sentence and facts")
    func text() {
        log(.text).with([Fact(.requestID, "r-1")]).info(
            "a consent was created",
            [
                Fact(.provider, "paypal"), Fact(.status, 201), Fact(.durationMilliseconds, .microseconds(12_345)),
                Fact(.reason, nil as String?), Fact(.caller, "the back end"), Fact(.code, ""),
            ])
        #expect(
            sink.text == "2026-01-02T03:04:05.678Z info a consent was created request_id=r-1 provider=paypal "
                + "status=201 duration_ms=12.3 caller=\"the back end\" code=\"\"\n")
    }

    @Test("a line of JSON is one object with the same")
    func json() throws {
        log(.json).with([Fact(.requestID, "r-1")]).warning(
            "the provider is slow",
            [Fact(.route, "/v1/consents"), Fact(.count, 3), Fact(.durationMilliseconds, .milliseconds(7))])
        let line = try JSONValue.parse(Array(sink.lines[0].utf8), as: .callers)
        #expect(
            line == [
                "time": "2026-01-02T03:04:05.678Z", "level": "warning", "message": "the provider is slow",
                "request_id": "r-1", "route": "/v1/consents", "count": 3, "duration_ms": 7.0,
            ])
    }

    @Test(
        "a duration has one place after the point, as text has it",
        arguments: [(700, "0.7"), (1_290, "1.2"), (0, "0.0"), (123_456_780, "123456.7"), (-1_100, "-1.1")])
    func tenths(microseconds: Int, number: String) {
        log(.json).info("it took", [Fact(.durationMilliseconds, .microseconds(microseconds))])
        #expect(sink.text.hasSuffix(#""message":"it took","duration_ms":\#(number)}"# + "\n"), "\(sink.text)")
        log(.text).info("it took", [Fact(.durationMilliseconds, .microseconds(microseconds))])
        #expect(sink.text.hasSuffix("it took duration_ms=\(number)\n"), "\(sink.text)")
    }

    @Test("no text can end a line, fake a fact or steer a terminal", arguments: [LogFormat.text, .json])
    func hostileText(format: LogFormat) {
        let hostile = "a\n2026 error fake\r\u{0}\u{1B}[2J\u{7F}\u{9B}\u{2028}\u{202E} \"x\" \\ status=1"
        log(format).error("odd", [Fact(.reason, hostile)])
        #expect(sink.lines.count == 1)
        #expect(
            sink.text.dropLast().unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value < 0x7F })
        #expect(sink.text.contains(#"\n2026 error fake\r\u0000\u001B[2J\u007F\u009B\u2028\u202E"#))
        #expect(sink.text.contains(#"\"x\" \\ status=1"#))
    }

    @Test("a text of any length gives a line of bounded length")
    func longText() {
        log(.text).info("long", [Fact(.reason, String(repeating: "é", count: 5000))])
        #expect(sink.text.utf8.count < 1100)
        #expect(sink.text.hasSuffix("é…\"\n"))
    }

    @Test("facts of a line that is not written are never made")
    func lazy() {
        let log = log(.text, level: .warning)
        log.info("unseen", [made(Fact(.count, 1))])
        #expect(sink.lines.isEmpty)
        log.error("seen")
        #expect(sink.lines.count == 1)
    }

    private func made(_ fact: Fact) -> Fact {
        Issue.record("a fact was made for nothing")
        return fact
    }

    @Test("the level changes for every copy while the program runs")
    func level() {
        let log = log(.text, level: .error)
        let copy = log.with([Fact(.caller, "job")])
        copy.debug("one")
        log.setLevel(.debug)
        copy.debug("two")
        #expect(sink.lines == ["2026-01-02T03:04:05.678Z debug two caller=job"])
    }

    @Test("lost lines are counted and told by the next line that is taken")
    func lostLines() {
        let narrow = NarrowSink(kept: sink)
        let log = Log(level: .info, format: .text, sink: narrow) { 0 }
        log.info("one")
        log.info("two")
        narrow.open()
        log.info("three")
        #expect(
            sink.lines == [
                "1970-01-01T00:00:00.000Z info three", "1970-01-01T00:00:00.000Z warning log lines were lost count=2",
            ])
    }
}
