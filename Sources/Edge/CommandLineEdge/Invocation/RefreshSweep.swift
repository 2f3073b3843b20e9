// SPDX-License-Identifier: Apache-2.0
/// What `refresh --due` and `refresh --all` are asked for; nil takes all.
package struct RefreshSweep: Sendable, Equatable {
    package enum Range: Sendable, Equatable {
        /// Those whose next refresh is due.
        case due
        /// All that can be refreshed.
        case all
    }
    package var range: Range
    /// The configured name.
    package var provider: String?
    package var subject: SubjectSource?
    package var includesFailing: Bool
    /// Consents at most.
    package var limit: Int?
    /// Refreshes at once.
    package var concurrency: Int
    /// Refreshes begun in a second at most.
    package var startsPerSecond: Int?
    /// List them and send nothing.
    package var isDryRun: Bool

    package init(
        _ range: Range, provider: String? = nil, subject: SubjectSource? = nil, includesFailing: Bool = false,
        limit: Int? = nil, concurrency: Int = RefreshSweep.defaultConcurrency, startsPerSecond: Int? = nil,
        isDryRun: Bool = false
    ) {
        self.range = range
        self.provider = provider
        self.subject = subject
        self.includesFailing = includesFailing
        self.limit = limit
        self.concurrency = concurrency
        self.startsPerSecond = startsPerSecond
        self.isDryRun = isDryRun
    }

    package static let defaultConcurrency = 8
    package static let largestConcurrency = 256
    package static let largestLimit = 1_000_000
    package static let largestRate = 10_000
}
