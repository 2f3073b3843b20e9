// SPDX-License-Identifier: Apache-2.0
package import Consents

/// What `consents list` is asked for; nil takes all.
package struct ConsentFilter: Sendable, Equatable {
    package var subject: SubjectSource?
    /// The configured name.
    package var provider: String?
    package var status: ConsentStatus?
    /// Records at most, over all pages.
    package var limit: Int

    package init(
        subject: SubjectSource? = nil, provider: String? = nil, status: ConsentStatus? = nil,
        limit: Int = ConsentFilter.defaultLimit
    ) {
        self.subject = subject
        self.provider = provider
        self.status = status
        self.limit = limit
    }

    package static let defaultLimit = 50
    package static let largestLimit = 100_000
}

/// Where a subject comes from: a command line is seen by every user of the machine, the standard input is not.
package enum SubjectSource: Sendable, Equatable {
    case written(String)
    /// Written as `-`; its content less one final newline.
    case standardInput
}
