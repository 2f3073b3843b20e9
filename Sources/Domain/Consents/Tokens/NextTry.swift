// SPDX-License-Identifier: Apache-2.0
/// When a grant is tried again after what came of a try (refresh.md, *What an outcome means*).
extension RefreshPolicy {
    /// After a try that did not bring tokens and that nobody doubts.
    /// - Parameters:
    ///   - record: as it was before this failure is counted.
    ///   - sentAt: when the refresh token went out; nil where no byte of it left.
    package func nextTry(of record: some RefreshCourse, sentAt: Instant?, at now: Instant) -> Instant {
        let ceiling = refreshTokenLife(record.timing)?.backoffCeiling(at: now) ?? RefreshPolicy.longestBackoff
        let spread = RefreshPolicy.spread(
            of: record.id, generation: record.generation, afterFailures: record.refreshFailures)
        let wait = RefreshPolicy.backoff(
            afterFailures: record.refreshFailures, ceiling: ceiling, spread: spread)
        let next = now.advanced(by: wait)
        guard let sentAt, sentAt <= now else { return next }
        return max(next, sentAt.advanced(by: RefreshPolicy.leastBetweenRefreshes))
    }

    /// After a due try that the provider put off without a time. Its gate is what holds everybody back, for an hour at
    /// most; a grant that is always the one to try it would be sent as often. Since the access token has lapsed for a
    /// while, the grant waits about as long again, six hours at most.
    /// - Returns: nil where the access token still lives: as it was due.
    package func nextTryOfThrottled(of record: some RefreshCourse, at now: Instant) -> Instant? {
        let lapsed = record.timing.believedExpiry(at: now).duration(to: now)
        guard lapsed > .zero else { return nil }
        let ceiling = refreshTokenLife(record.timing)?.backoffCeiling(at: now) ?? RefreshPolicy.longestBackoff
        let longest = min(lapsed, ceiling)
        let spread = RefreshPolicy.spread(of: record.id, generation: record.generation)
        return now.advanced(by: longest - longest / 8 * RefreshPolicy.fraction(spread))
    }

    /// After a try whose outcome nobody knows.
    ///
    /// `static`: by backoff. `grace: N`: once more before `sent + N − 5 s`, later as `forbidden`. `forbidden`: by
    /// backoff, and not before the access token in hand has lapsed.
    /// - Parameter doubt: an earlier sending of the same token whose outcome is not known either; nil for the first.
    package func nextTryOfUnknown(
        of record: some RefreshCourse, sentAt: Instant, doubt: RefreshAttempt?, at now: Instant
    ) -> Instant {
        let next = nextTry(of: record, sentAt: sentAt, at: now)
        switch reuse {
        case .fixed: return next
        case .forbidden: return max(next, record.timing.believedExpiry(at: now))
        case .grace(let window):
            let end = sentAt.advanced(by: window - RefreshPolicy.graceReserve)
            guard doubt == nil, end > now.advanced(by: .seconds(2)) else {
                return max(next, record.timing.believedExpiry(at: now))
            }
            return next < end ? next : now.advanced(by: now.duration(to: end) / 2)
        }
    }

    /// Whoever finds a sending whose process has ended makes the grant due at once where it was sent later than this:
    /// there is time to send it once more within the grace. Nil where the policy has none.
    package func onceMoreSince(_ now: Instant) -> Instant? {
        guard case .grace(let window) = reuse else { return nil }
        return now.advanced(by: RefreshPolicy.graceReserve + .seconds(2) - window)
    }

    /// How long before a grace ends a token is not sent any more.
    static let graceReserve = Duration.seconds(5)

    /// Before when a grant is not sent because of an earlier sending in doubt; nil where it may go out now. Within a grace
    /// it goes out once more, whoever asks.
    package func isHeldBack(_ timing: TokenTiming, by doubt: RefreshAttempt?, at now: Instant) -> Instant? {
        guard let doubt, doubt.phase == .unknown else { return nil }
        switch reuse {
        case .fixed: return nil
        case .grace(let window):
            let end = doubt.sentAt.advanced(by: window - RefreshPolicy.graceReserve)
            // A sending that lies ahead of now was written by a clock that was wrong.
            if now < end, doubt.sentAt <= now, !doubt.isRepeated { return nil }
        case .forbidden: break
        }
        let lapse = timing.believedExpiry(at: now)
        return now < lapse ? lapse : nil
    }
}
