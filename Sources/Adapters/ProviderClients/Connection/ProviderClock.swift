// SPDX-License-Identifier: Apache-2.0
package import Consents
import NativeSystem

/// How far a provider's clock is from ours, by the last document that it has told: what makes good ID tokens look as if
/// they were of tomorrow.
package final class ProviderClock: Sendable {
    private let time: any Timekeeper
    private let last = Locked<Duration?>(nil)

    package init(time: any Timekeeper) { self.time = time }

    /// Above zero where the provider's is ahead, to a second or so; nil before an answer told its time.
    package var offset: Duration? { last.withLock { $0 } }

    /// - Parameters:
    ///   - date: the field `Date` of an answer that has just come (RFC 9110, section 6.6.1), in whole seconds.
    ///   - age: its `Age`: for how many seconds a cache has held it (RFC 9111, section 5.1).
    func hear(date: String?, age: String?) {
        guard let date, let told = RetryAfter.date(Array(date.utf8)) else { return }
        let held = age.flatMap { $0.utf8.count <= 9 ? Int64($0) : nil } ?? 0
        let middle = told.advanced(by: .seconds(max(0, held)) + .milliseconds(500))
        let offset = time.now.duration(to: middle)
        last.withLock { $0 = offset }
    }
}
