// SPDX-License-Identifier: Apache-2.0
import Consents
import Testing

@testable import ProviderClients

@Suite("Retry-After")
struct RetryAfterTests {
    @Test(
        "seconds and dates are cut to a second and an hour",
        arguments: [
            ("120", 120), (" 7 ", 7), ("0", 1), ("99999", 3600), ("99999999999999999999999", 3600),
            ("Thu, 01 Jan 2026 00:02:00 GMT", 120), ("Wed, 31 Dec 2025 23:59:59 GMT", 1),
            ("Fri, 01 Jan 9999 00:00:00 GMT", 3600), ("Sun, 06 Nov 1994 08:49:37 GMT", 1),
        ])
    func usable(field: String, seconds: Int64) {
        #expect(RetryAfter.delay(field, now: newYear) == .seconds(seconds))
    }

    @Test(
        "anything else is no delay",
        arguments: [
            "", " ", "soon", "-1", "1.5", "1e3", "Thu, 01 Jan 2026 00:02:00 CET", "Thu, 00 Jan 2026 00:02:00 GMT",
            "Thu, 01 Foo 2026 00:02:00 GMT", "Thu, 01 Jan 2026 24:02:00 GMT", "Thursday, 01-Jan-26 00:02:00 GMT",
            "Thu, 01 Jan 2026 00:0x:00 GMT", "Thu, 01 Jan 2026 00:02:00 GMT, and more", "１２",
        ])
    func unusable(field: String) {
        #expect(RetryAfter.delay(field, now: newYear) == nil)
    }

    @Test("an absent field is no delay")
    func absent() {
        #expect(RetryAfter.delay(nil, now: newYear) == nil)
    }

    @Test(
        "dates are counted as the calendar has them",
        arguments: [
            ("Thu, 01 Jan 1970 00:00:00 GMT", "1970-01-01T00:00:00Z"),
            ("Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z"),
            ("Tue, 29 Feb 2000 23:59:59 GMT", "2000-02-29T23:59:59Z"),
            ("Fri, 01 Mar 2024 00:00:00 GMT", "2024-03-01T00:00:00Z"),
            ("Mon, 01 Mar 2100 12:00:00 GMT", "2100-03-01T12:00:00Z"),
        ])
    func dates(field: String, text: String) {
        #expect(RetryAfter.date(Array(field.utf8))?.text == text)
    }
}
