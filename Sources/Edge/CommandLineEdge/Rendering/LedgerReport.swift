// SPDX-License-Identifier: Apache-2.0
package import Consents

/// What `verify` found.
package struct LedgerReport: Sendable, Equatable {
    /// One chain that does not hold, or one column of a record that differs from its chain.
    package struct Finding: Sendable, Equatable {
        package var consent: ConsentID
        /// The first event that does not hold.
        package var sequence: Int64
        /// `altered`, `gap`, `cut`, `head_differs`, `missing` or `record_differs`.
        package var fault: String
        /// Where a record differs.
        package var column: String?

        package init(consent: ConsentID, sequence: Int64, fault: String, column: String? = nil) {
            self.consent = consent
            self.sequence = sequence
            self.fault = fault
            self.column = column
        }
    }

    /// A checkpoint's name, and when it was begun.
    package struct Named: Sendable, Equatable {
        package var name: CheckpointName
        package var at: Instant

        package init(name: CheckpointName, at: Instant) {
            self.name = name
            self.at = at
        }
    }

    /// The checkpoints, and what does not hold of them.
    package struct Checkpoints: Sendable, Equatable {
        package var count: Int
        package var last: Named?
        package var isSinceAsked: Bool
        /// Nil where it is not there as it was.
        package var since: Named?
        package var findings: [CheckpointFinding]

        package init(count: Int, last: Named?, isSinceAsked: Bool, since: Named?, findings: [CheckpointFinding]) {
            self.count = count
            self.last = last
            self.isSinceAsked = isSinceAsked
            self.since = since
            self.findings = findings
        }
    }
    package var consents: Int
    package var events: Int
    package var findings: [Finding]
    package var checkpoints: Checkpoints

    package init(consents: Int, events: Int, findings: [Finding], checkpoints: Checkpoints) {
        self.consents = consents
        self.events = events
        self.findings = findings
        self.checkpoints = checkpoints
    }

    var holds: Bool { findings.isEmpty && checkpoints.findings.isEmpty }
}
