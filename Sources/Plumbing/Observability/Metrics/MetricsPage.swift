// SPDX-License-Identifier: Apache-2.0

/// A number that is read when somebody looks: a gauge, or a counter that another part keeps.
package struct MetricReading: Sendable {
    package let metric: Metric
    /// Of the metric's labels, in its order.
    package let values: [String]
    /// Nil where it cannot be told.
    package let read: @Sendable () async -> Double?

    package init(_ metric: Metric, _ values: [String], _ read: @escaping @Sendable () async -> Double?) {
        self.metric = metric
        self.values = values
        self.read = read
    }
}

/// The metrics as Prometheus reads them: text exposition format 0.0.4.
///
/// Source: <https://prometheus.io/docs/instrumenting/exposition_formats/>.
package struct MetricsPage: Sendable {
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private let metrics: Metrics
    private let readings: [MetricReading]

    /// - Parameter readings: of one metric and the same values only one.
    package init(_ metrics: Metrics, readings: [MetricReading]) {
        self.metrics = metrics
        self.readings = readings
    }

    /// The whole page, with a line feed at its end. What has no labels, and counters of few series, stand there from the
    /// start, so that their first rise is one; of all others those that have moved are told.
    package func text() async -> String {
        var text = ""
        for metric in Metric.allCases {
            let lines = MetricsPage.counted(metric, metrics) + (await read(metric))
            guard !lines.isEmpty else { continue }
            text += "# HELP \(metric.rawValue) \(MetricsPage.escapedHelp(metric.help))\n"
            text += "# TYPE \(metric.rawValue) \(metric.kind.word)\n"
            text += lines.joined()
        }
        return text
    }

    private func read(_ metric: Metric) async -> [String] {
        guard let family = metrics.families[metric] else { return [] }
        var lines: [String] = []
        for reading in readings where reading.metric == metric {
            guard let number = await reading.read() else { continue }
            let labels = MetricsPage.labels(family.labels, family.bounded(reading.values), nil)
            lines.append("\(metric.rawValue)\(labels) \(MetricsPage.number(number))\n")
        }
        return lines
    }

    private static func counted(_ metric: Metric, _ metrics: Metrics) -> [String] {
        guard let family = metrics.families[metric] else { return [] }
        let isToldAtZero = isToldAtZero(metric, family)
        return family.series.indices.flatMap { index -> [String] in
            let numbers = family.series[index].numbers
            let values = family.values(at: index)
            guard isToldAtZero && !values.contains(MetricWords.other) || numbers.contains(where: { $0 != 0 }) else {
                return []
            }
            guard case .histogram(let buckets) = metric.kind else {
                return ["\(metric.rawValue)\(labels(family.labels, values, nil)) \(numbers[0])\n"]
            }
            return histogram(metric, buckets, numbers) { labels(family.labels, values, $0) }
        }
    }

    /// The most series of a counter that are told before they move.
    private static let fewSeries = 32

    private static func isToldAtZero(_ metric: Metric, _ family: MetricFamily) -> Bool {
        if metric.isKeptElsewhere { return false }
        return family.labels.isEmpty || metric.kind == .counter && family.series.count <= fewSeries
    }

    private static func histogram(
        _ metric: Metric, _ buckets: MetricBuckets, _ numbers: [Int64], _ labels: (_ bound: String?) -> String
    ) -> [String] {
        var lines: [String] = []
        var count: Int64 = 0
        for (bound, number) in zip(buckets.bounds, numbers) {
            count += number
            let text = MetricsPage.number(Double(bound) / Double(buckets.scale))
            lines.append("\(metric.rawValue)_bucket\(labels(text)) \(count)\n")
        }
        count += numbers[buckets.bounds.count]
        let sum = Double(numbers[buckets.bounds.count + 1]) / Double(buckets.scale)
        lines.append("\(metric.rawValue)_bucket\(labels("+Inf")) \(count)\n")
        lines.append("\(metric.rawValue)_sum\(labels(nil)) \(number(sum))\n")
        lines.append("\(metric.rawValue)_count\(labels(nil)) \(count)\n")
        return lines
    }

    private static func labels(_ labels: [MetricLabel], _ values: [String], _ bound: String?) -> String {
        var pairs = zip(labels, values).map { "\($0.name)=\"\(escaped($1))\"" }
        if let bound { pairs.append("le=\"\(bound)\"") }
        return pairs.isEmpty ? "" : "{\(pairs.joined(separator: ","))}"
    }

    /// Whole numbers without a point, as people write them.
    private static func number(_ value: Double) -> String {
        if let whole = Int64(exactly: value) { return String(whole) }
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return value.description
    }

    /// A label's value: backslash, quotation mark and line feed are escaped.
    static func escaped(_ text: String) -> String {
        escaped(text, isQuoted: true)
    }

    /// A help text: backslash and line feed are escaped.
    static func escapedHelp(_ text: String) -> String {
        escaped(text, isQuoted: false)
    }

    private static func escaped(_ text: String, isQuoted: Bool) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where isQuoted: escaped += "\\\""
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
