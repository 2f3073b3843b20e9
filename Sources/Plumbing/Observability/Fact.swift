// SPDX-License-Identifier: Apache-2.0

/// One thing that a log line tells besides its sentence.
package struct Fact: Sendable, Equatable {
    package let key: FactKey
    let value: FactValue

    package init(_ key: FactKey, _ text: String) { self.init(key, value: .text(text)) }
    /// A text that may be lacking; nil is not written.
    package init(_ key: FactKey, _ text: String?) { self.init(key, value: text.map(FactValue.text) ?? .absent) }
    package init(_ key: FactKey, _ number: some BinaryInteger) {
        self.init(key, value: .integer(Int64(clamping: number)))
    }
    /// A number that may be lacking; nil is not written.
    package init(_ key: FactKey, _ number: Int?) {
        self.init(key, value: number.map { .integer(Int64($0)) } ?? .absent)
    }
    /// In milliseconds, with one place after the point.
    package init(_ key: FactKey, _ duration: Duration) { self.init(key, value: .milliseconds(duration)) }

    private init(_ key: FactKey, value: FactValue) {
        self.key = key
        self.value = value
    }
}

enum FactValue: Sendable, Equatable {
    case text(String)
    case integer(Int64)
    case milliseconds(Duration)
    case absent

    /// Whole tenths of a millisecond, rounded down.
    static func tenths(of duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 10_000)
        return overflow ? (seconds < 0 ? .min : .max) : product &+ attoseconds / 100_000_000_000_000
    }
}
