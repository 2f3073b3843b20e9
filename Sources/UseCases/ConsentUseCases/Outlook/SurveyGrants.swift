// SPDX-License-Identifier: Apache-2.0
package import Consents

/// Goes through all grants that may be refreshed, a page at a time: what looks ahead over a million of them holds a
/// thousand.
package struct SurveyGrants: Sendable {
    private let grants: any PlannedGrants
    private let provider: String?

    private static let pageSize = 1000

    /// - Parameter provider: the configured name of the only one that is meant; nil means all.
    package init(_ grants: any PlannedGrants, of provider: String?) {
        self.grants = grants
        self.provider = provider
    }

    package func callAsFunction(_ visit: (PlannedGrant) -> Void) async throws(StoreFailure) {
        var after: ConsentID?
        while true {
            let page = try await grants.plannedGrants(after: after, limit: SurveyGrants.pageSize)
            for grant in page where provider == nil || grant.provider.name == provider { visit(grant) }
            guard page.count == SurveyGrants.pageSize, let last = page.last else { return }
            after = last.id
        }
    }
}
