// SPDX-License-Identifier: Apache-2.0
/// Why a grant is due when it is.
package enum DueReason: String, Sendable, CaseIterable {
    /// `keep_fresh`: shortly before the access token lapses.
    case accessTokenEnd = "access_token_end"
    /// `keep_alive`: its interval.
    case interval
    /// Half of the refresh token's own life, which comes before what the policy asks for.
    case refreshTokenEnd = "refresh_token_end"
    /// The next try after one that failed.
    case nextTry = "next_try"
    /// The next try after one whose outcome nobody knows.
    case inDoubt = "in_doubt"
    /// Nothing is due: somebody has to ask.
    case onDemand = "on_demand"
}

extension RefreshPolicy {
    /// - Parameter isInDoubt: whether a sending of unknown outcome stands on the row.
    package func reason(
        of timing: TokenTiming, status: ConsentStatus, isInDoubt: Bool, id: ConsentID, generation: Int64
    ) -> DueReason {
        if timing.dueAt == nil { return .onDemand }
        if isInDoubt { return .inDoubt }
        if status == .failing { return .nextTry }
        let spread = RefreshPolicy.spread(of: id, generation: generation)
        let own = ownDelay(accessLife: timing.accessLife, spread: spread)
        let whole = dueTime(
            issuedAt: timing.issuedAt, accessLife: timing.accessLife, refreshLife: refreshTokenLife(timing)?.length,
            spread: spread)
        guard let own, whole == timing.issuedAt.advanced(by: own) else { return .refreshTokenEnd }
        return kind == .keepFresh ? .accessTokenEnd : .interval
    }
}
