// SPDX-License-Identifier: Apache-2.0
internal import NativeJSON
internal import NativeSystem

/// One line before it is written: pure, so that its look can be tested without a clock.
struct LogLine {
    var milliseconds: Int64
    var level: LogLevel
    var sentence: StaticString
    /// Of the log itself; they come first.
    var standing: [Fact] = []
    var facts: [Fact]
    /// Whose facts come last.
    var origin: LogContext?

    /// Longer texts are cut here, in bytes, at a character's border.
    static let longestText = 1000

    /// The line with its line feed. Of two facts with one key both are written as text; JSON keeps the last.
    func rendered(as format: LogFormat) -> [UInt8] {
        switch format {
        case .text: text()
        case .json: json()
        }
    }

    private func text() -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(384)
        appendRFC3339(milliseconds: milliseconds, to: &line)
        line.append(UInt8(ascii: " "))
        line.append(text: level.rawValue)
        line.append(UInt8(ascii: " "))
        line.append(text: sentence)
        for fact in standing { Self.append(fact, to: &line) }
        for fact in facts { Self.append(fact, to: &line) }
        if let origin {
            Self.append(origin.requestFact, to: &line)
            Self.append(origin.traceFact, to: &line)
        }
        line.append(0x0A)
        return line
    }

    private static func append(_ fact: Fact, to line: inout [UInt8]) {
        if case .absent = fact.value { return }
        line.append(UInt8(ascii: " "))
        line.append(text: fact.key.rawValue)
        line.append(UInt8(ascii: "="))
        switch fact.value {
        case .text(let text): append(cut(text), to: &line)
        case .integer(let number): line.append(decimal: number)
        case .milliseconds(let duration): append(duration, to: &line)
        case .absent: break
        }
    }

    private func json() -> [UInt8] {
        var time: [UInt8] = []
        appendRFC3339(milliseconds: milliseconds, to: &time)
        var object = JSONValue.object()
        object.set("time", String(decoding: time, as: UTF8.self))
        object.set("level", level.rawValue)
        object.set("message", sentence.description)
        for fact in standing + facts + (origin.map { [$0.requestFact, $0.traceFact] } ?? []) {
            switch fact.value {
            case .text(let text): object.set(fact.key.rawValue, Self.cut(text))
            case .integer(let number): object.set(fact.key.rawValue, number)
            case .milliseconds(let duration):
                object.set(fact.key.rawValue, Double(FactValue.tenths(of: duration)) / 10)
            case .absent: break
            }
        }
        return LineText.escapingHidden(in: object.serialized(.line)) + [0x0A]
    }

    /// With one place after the point.
    private static func append(_ duration: Duration, to line: inout [UInt8]) {
        let tenths = FactValue.tenths(of: duration)
        if -10 < tenths, tenths < 0 { line.append(UInt8(ascii: "-")) }
        line.append(decimal: tenths / 10)
        line.append(UInt8(ascii: "."))
        line.append(UInt8(ascii: "0") + UInt8(tenths.magnitude % 10))
    }

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > longestText else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: longestText)
        while end > text.startIndex, end.samePosition(in: text.unicodeScalars) == nil {
            end = text.utf8.index(before: end)
        }
        return text[..<end] + "…"
    }

    /// As it is where nothing in it could be misread, else between quotation marks.
    private static func append(_ text: String, to line: inout [UInt8]) {
        if !text.isEmpty, text.utf8.span.allSatisfy(LineText.isPlain) {
            line.append(text: text)
            return
        }
        line.append(UInt8(ascii: "\""))
        line += LineText.quoted(text)
        line.append(UInt8(ascii: "\""))
    }
}
