// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// The program's counters and histograms: a fixed set of series, made at the start, that any thread raises without a
/// lock.
///
/// A series is found by its labels' values; a value that was not declared is counted as `other`. Gauges and what other
/// parts count themselves are read when somebody looks, see ``MetricsPage``.
package final class Metrics: Sendable {
    let families: [Metric: MetricFamily]

    package init(_ words: MetricWords) {
        families = Dictionary(uniqueKeysWithValues: Metric.allCases.map { ($0, MetricFamily($0, words)) })
    }

    /// Raises a counter by one.
    /// - Parameter values: of the metric's labels, in its order; what is lacking is `other`.
    package func count(_ metric: Metric, _ values: [String]) { add(1, to: metric, values) }

    /// Raises a counter; a negative `number` changes nothing.
    package func add(_ number: Int, to metric: Metric, _ values: [String]) {
        guard number > 0, metric.kind == .counter else { return }
        families[metric]?.series(values).add(Int64(number), at: 0)
    }

    /// Puts a duration into a histogram of seconds.
    package func observe(_ duration: Duration, in metric: Metric, _ values: [String]) {
        observe(duration.wholeMicroseconds, metric, values)
    }

    /// Puts a size into a histogram of sizes.
    package func observe(size: Int, in metric: Metric, _ values: [String]) { observe(Int64(size), metric, values) }

    private func observe(_ value: Int64, _ metric: Metric, _ values: [String]) {
        guard case .histogram(let buckets) = metric.kind, let series = families[metric]?.series(values) else { return }
        series.observe(value, in: buckets)
    }

    /// One series of a counter, looked up once for all times that it is raised; nil where the metric is no counter.
    /// - Parameter values: as for `count`.
    package func counter(_ metric: Metric, _ values: [String]) -> MetricCounter? {
        guard metric.kind == .counter else { return nil }
        return families[metric].map { MetricCounter(series: $0.series(values)) }
    }

    /// One series of a histogram of seconds, likewise.
    package func timer(_ metric: Metric, _ values: [String]) -> MetricTimer? {
        guard case .histogram(let buckets) = metric.kind else { return nil }
        return families[metric].map { MetricTimer(series: $0.series(values), buckets: buckets) }
    }
}

/// One series of a counter.
package struct MetricCounter: Sendable {
    fileprivate let series: MetricSeries

    package func count() { series.add(1, at: 0) }
}

/// One series of a histogram of seconds.
package struct MetricTimer: Sendable {
    fileprivate let series: MetricSeries
    fileprivate let buckets: MetricBuckets

    package func observe(_ duration: Duration) { series.observe(duration.wholeMicroseconds, in: buckets) }
}

extension Duration {
    /// Not negative, a thousand million seconds at most.
    fileprivate var wholeMicroseconds: Int64 {
        let (seconds, attoseconds) = components
        return max(0, min(seconds, 1_000_000_000)) * 1_000_000 + max(0, attoseconds) / 1_000_000_000_000
    }
}

/// One metric with all its series.
final class MetricFamily: Sendable {
    let labels: [MetricLabel]
    /// The values of each label, `other` last.
    let words: [[String]]
    let series: [MetricSeries]
    private let places: [[String: Int]]

    init(_ metric: Metric, _ vocabulary: MetricWords) {
        labels = metric.labels
        words = labels.map(vocabulary.values)
        places = words.map { Dictionary(uniqueKeysWithValues: zip($0, $0.indices)) }
        let cells =
            switch metric.kind {
            case .counter: 1
            case .gauge: 0
            case .histogram(let buckets): buckets.bounds.count + 2
            }
        let count = cells == 0 ? 0 : words.reduce(1) { $0 * $1.count }
        series = (0..<count).map { _ in MetricSeries(cells: cells) }
    }

    /// The series of these values.
    func series(_ values: [String]) -> MetricSeries { series[index(values)] }

    private func index(_ values: [String]) -> Int {
        var index = 0
        for (place, known) in places.enumerated() {
            let other = known.count - 1
            let number = place < values.count ? known[values[place]] ?? other : other
            index = index * known.count + number
        }
        return index
    }

    /// The declared word of each label for a value, `other` for one that was not declared.
    func bounded(_ values: [String]) -> [String] {
        places.enumerated().map { place, known in
            place < values.count && known[values[place]] != nil ? values[place] : MetricWords.other
        }
    }

    /// The values that the series at `index` stands for.
    func values(at index: Int) -> [String] {
        var rest = index
        var values: [String] = []
        for list in words.reversed() {
            values.append(list[rest % list.count])
            rest /= list.count
        }
        return values.reversed()
    }
}

/// The numbers of one series: a counter's one, or a histogram's buckets, the one above them, and the sum.
final class MetricSeries: Sendable {
    private final class Cell: Sendable {
        let number = Atomic<Int64>(0)
    }

    private let cells: [Cell]

    init(cells: Int) { self.cells = (0..<cells).map { _ in Cell() } }

    func observe(_ value: Int64, in buckets: MetricBuckets) {
        let bucket = buckets.bounds.firstIndex { value <= $0 } ?? buckets.bounds.count
        add(value, at: buckets.bounds.count + 1)
        add(1, at: bucket)
    }

    func add(_ value: Int64, at index: Int) { cells[index].number.wrappingAdd(value, ordering: .relaxed) }

    var numbers: [Int64] { cells.map { $0.number.load(ordering: .relaxed) } }
}
