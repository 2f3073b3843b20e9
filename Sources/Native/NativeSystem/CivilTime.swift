// SPDX-License-Identifier: Apache-2.0
import CLinux
internal import Glibc

/// Milliseconds since 1970-01-01T00:00:00Z by the wall clock, which may be set back (clock_gettime(2)).
package func wallClockMilliseconds() -> Int64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
}

/// Time since the machine was started, sleep included (`CLOCK_BOOTTIME`); it never steps back.
package func timeSinceBoot() -> Duration {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_BOOTTIME, &time)
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
}

/// Appends a moment in UTC as RFC 3339 writes it, such as `2026-01-02T03:04:05.678Z`.
/// - Parameter milliseconds: since 1970; what lies outside the years 0 to 9999 is written as the nearest of them.
package func appendRFC3339(milliseconds: Int64, to text: inout [UInt8]) {
    let bounded = min(max(milliseconds, -62_167_219_200_000), 253_402_300_799_999)
    let thousandths = ((bounded % 1000) + 1000) % 1000
    var seconds = time_t((bounded - thousandths) / 1000)
    var date = unsafe tm()
    _ = unsafe gmtime_r(&seconds, &date)
    let year = unsafe date.tm_year + 1900
    appendTwoDigits(year / 100, to: &text)
    appendTwoDigits(year % 100, to: &text)
    text.append(UInt8(ascii: "-"))
    appendTwoDigits(unsafe date.tm_mon + 1, to: &text)
    text.append(UInt8(ascii: "-"))
    appendTwoDigits(unsafe date.tm_mday, to: &text)
    text.append(UInt8(ascii: "T"))
    appendTwoDigits(unsafe date.tm_hour, to: &text)
    text.append(UInt8(ascii: ":"))
    appendTwoDigits(unsafe date.tm_min, to: &text)
    text.append(UInt8(ascii: ":"))
    appendTwoDigits(unsafe date.tm_sec, to: &text)
    text.append(UInt8(ascii: "."))
    text.append(UInt8(ascii: "0") + UInt8(thousandths / 100))
    appendTwoDigits(Int32(thousandths % 100), to: &text)
    text.append(UInt8(ascii: "Z"))
}

private func appendTwoDigits(_ number: Int32, to text: inout [UInt8]) {
    text.append(UInt8(ascii: "0") + UInt8(number / 10))
    text.append(UInt8(ascii: "0") + UInt8(number % 10))
}
