// SPDX-License-Identifier: Apache-2.0

/// The tables of `.github/METRICS.md`: what is counted, and what each label may read.
package enum MetricTables {
    /// Every metric with its type, labels and meaning, in the order of the metrics page.
    package static var metrics: String {
        var text = "| metric | type | labels | what it tells |\n| --- | --- | --- | --- |\n"
        for metric in Metric.allCases {
            let labels = metric.labels.map { "`\($0.name)`" }.joined(separator: ", ")
            text += "| `\(metric.rawValue)` | \(metric.kind.word) | \(labels) | \(metric.help) |\n"
        }
        return text
    }

    /// Every label with the values that bound it; two labels that share a name have a row each.
    package static var labels: String {
        var text = "| label | of | values |\n| --- | --- | --- |\n"
        for label in MetricLabel.allCases {
            let metrics = Metric.allCases.filter { $0.labels.contains(label) }.map { "`\($0.rawValue)`" }
            text += "| `\(label.name)` | \(metrics.joined(separator: ", ")) | \(values(of: label)) |\n"
        }
        return text
    }

    private static func values(of label: MetricLabel) -> String {
        switch label {
        case .route: "the patterns of the routes"
        case .code: "the codes of the problem documents"
        case .provider: "the configured names"
        case .version: "the program's"
        case .method, .status, .listener, .call, .callOutcome, .document, .fetchOutcome, .flight, .blockReason,
            .writeOutcome:
            MetricWords.fixed(label).map { "`\($0)`" }.joined(separator: ", ")
        }
    }
}
