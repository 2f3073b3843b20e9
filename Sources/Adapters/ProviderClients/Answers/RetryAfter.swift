// SPDX-License-Identifier: Apache-2.0
import Consents

/// The header field `Retry-After` (RFC 9110, section 10.2.3).
enum RetryAfter {
    /// How long to wait: seconds or a date in IMF-fixdate, cut to 1 s … 1 h.
    /// - Returns: nil where the field is absent or neither.
    static func delay(_ field: String?, now: Instant) -> Duration? {
        guard let field else { return nil }
        let text = Array(field.utf8.drop { $0 <= 0x20 }.reversed().drop { $0 <= 0x20 }.reversed())
        let delay: Duration
        if !text.isEmpty, text.allSatisfy({ (0x30...0x39).contains($0) }) {
            delay = .seconds(number(text[...]) ?? 3600)
        } else if let date = date(text) {
            delay = now.duration(to: date)
        } else {
            return nil
        }
        return min(max(delay, .seconds(1)), .seconds(3600))
    }

    /// A date as in `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7); the day's name is not checked.
    static func date(_ text: [UInt8]) -> Instant? {
        let shape = Array("___, __ ___ ____ __:__:__ GMT".utf8)
        guard text.count == shape.count, zip(text, shape).allSatisfy({ $1 == 0x5F || $0 == $1 }),
            let day = number(text[5..<7]), let month = month(text[8..<11]), let year = number(text[12..<16]),
            let hour = number(text[17..<19]), let minute = number(text[20..<22]), let second = number(text[23..<25]),
            (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        let days = daysSince1970(year: year, month: month, day: day)
        return Instant(milliseconds: (days * 86_400 + hour * 3600 + minute * 60 + second) * 1000)
    }

    /// Up to nine digits; nil for anything else.
    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard (1...9).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }

    private static func month(_ name: ArraySlice<UInt8>) -> Int64? {
        let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        return names.firstIndex { name.elementsEqual($0.utf8) }.map { Int64($0) + 1 }
    }

    /// The day's number in the proleptic Gregorian calendar, counted in 400-year eras that begin on 1 March.
    private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
