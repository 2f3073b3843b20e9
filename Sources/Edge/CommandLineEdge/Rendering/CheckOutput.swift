// SPDX-License-Identifier: Apache-2.0
internal import NativeJSON

/// One thing that `check` looked at.
package struct CheckFinding: Sendable, Equatable {
    package enum Level: String, Sendable { case ok, warning, error }
    package var level: Level
    /// What was found, and for anything but `ok` what to do; one sentence without a secret.
    package var sentence: String

    package init(_ level: Level, _ sentence: String) {
        self.level = level
        self.sentence = sentence
    }
}

/// `check`: a line each, and status 1 if one of them is an error.
package enum CheckOutput {
    /// - Parameters:
    ///   - failure: the status where there is an error: `.partlyDone`, or `.configuration` where it could not even be
    ///     read.
    package static func lines(
        _ findings: [CheckFinding], json: Bool, failure: ExitStatus = .partlyDone
    ) -> CommandOutput {
        let hasError = findings.contains { $0.level == .error }
        let text = json ? jsonDocument(document(findings, isGood: !hasError)) : findings.map(line).joined()
        return CommandOutput(text: text, status: hasError ? failure : .done)
    }

    private static func line(_ finding: CheckFinding) -> String {
        let level = finding.level.rawValue
        let gap = String(repeating: " ", count: "warning".count + 2 - level.count)
        return level + gap + Printable.text(finding.sentence) + "\n"
    }

    private static func document(_ findings: [CheckFinding], isGood: Bool) -> JSONValue {
        let items = findings.map { finding -> JSONValue in
            ["level": JSONValue(finding.level.rawValue), "detail": JSONValue(finding.sentence)]
        }
        return ["ok": JSONValue(isGood), "items": .array(items)]
    }
}
