// SPDX-License-Identifier: Apache-2.0
/// All grants that may be refreshed, a page at a time, for whoever looks ahead. Nothing is opened.
package protocol PlannedGrants: Sendable {
    /// Active and failing ones with a refresh token, behind `after` in the order of their identifiers.
    /// - Parameters:
    ///   - after: the last one of the page before; nil begins.
    ///   - limit: how many at most; fewer are the last ones.
    func plannedGrants(after: ConsentID?, limit: Int) async throws(StoreFailure) -> [PlannedGrant]
}

/// What the plan of a grant is made of.
package struct PlannedGrant: Sendable, Equatable {
    package var id: ConsentID
    package var provider: ProviderKey
    package var status: ConsentStatus
    package var generation: Int64
    /// With `dueAt` as it was before a refresh that is under way.
    package var timing: TokenTiming
    /// Whether a sending of unknown outcome stands on the row.
    package var isInDoubt: Bool

    package init(
        id: ConsentID, provider: ProviderKey, status: ConsentStatus, generation: Int64, timing: TokenTiming,
        isInDoubt: Bool
    ) {
        self.id = id
        self.provider = provider
        self.status = status
        self.generation = generation
        self.timing = timing
        self.isInDoubt = isInDoubt
    }
}
