// SPDX-License-Identifier: Apache-2.0
/// A point of civil time, to the millisecond.
package struct Instant: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    package let milliseconds: Int64

    package init(milliseconds: Int64) { self.milliseconds = milliseconds }

    package static func < (left: Instant, right: Instant) -> Bool { left.milliseconds < right.milliseconds }

    /// Later by that much; held at the ends of time.
    package func advanced(by duration: Duration) -> Instant {
        let (sum, overflow) = milliseconds.addingReportingOverflow(duration.milliseconds)
        return Instant(milliseconds: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    /// From this instant to the other; negative where that came before, and held at the ends of time.
    package func duration(to other: Instant) -> Duration {
        let (difference, overflow) = other.milliseconds.subtractingReportingOverflow(milliseconds)
        return .milliseconds(overflow ? (self < other ? .max : .min) : difference)
    }

    /// RFC 3339 in UTC with whole seconds, as in `2026-01-02T03:04:05Z`.
    package var text: String {
        let seconds = milliseconds >= 0 ? milliseconds / 1000 : (milliseconds - 999) / 1000
        let days = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        let rest = seconds - days * 86_400
        let date = Instant.civilDate(daysSince1970: days)
        let isPlainYear = (0...9999).contains(date.year)
        let year = isPlainYear ? date.year : 0
        // In place: to put a text together out of texts costs ten times as much.
        var digits = InlineArray<20, UInt8>(repeating: UInt8(ascii: "0"))
        (digits[4], digits[7]) = (UInt8(ascii: "-"), UInt8(ascii: "-"))
        (digits[10], digits[19]) = (UInt8(ascii: "T"), UInt8(ascii: "Z"))
        (digits[13], digits[16]) = (UInt8(ascii: ":"), UInt8(ascii: ":"))
        Instant.put(year / 100, at: 0, in: &digits)
        Instant.put(year % 100, at: 2, in: &digits)
        Instant.put(date.month, at: 5, in: &digits)
        Instant.put(date.day, at: 8, in: &digits)
        Instant.put(rest / 3600, at: 11, in: &digits)
        Instant.put(rest / 60 % 60, at: 14, in: &digits)
        Instant.put(rest % 60, at: 17, in: &digits)
        let text = String(ascii: digits.span)
        if isPlainYear { return text }
        let longYear = String(date.year)
        return String(repeating: "0", count: max(0, 4 - longYear.utf8.count)) + longYear + text.dropFirst(4)
    }

    /// Adds a number below 100 to two zeros.
    private static func put(_ number: Int64, at place: Int, in digits: inout InlineArray<20, UInt8>) {
        digits[place] += UInt8(truncatingIfNeeded: number / 10)
        digits[place + 1] += UInt8(truncatingIfNeeded: number % 10)
    }

    /// The proleptic Gregorian date of a day number, by counting 400-year eras that begin on 1 March.
    private static func civilDate(daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = daysSince1970 + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}

extension Duration {
    /// Whole milliseconds, rounded towards zero and kept within `Int64`.
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        if overflow { return seconds < 0 ? .min : .max }
        return product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000).partialValue
    }

    /// Whole seconds, rounded towards zero.
    package var wholeSeconds: Int64 { components.seconds }
}
