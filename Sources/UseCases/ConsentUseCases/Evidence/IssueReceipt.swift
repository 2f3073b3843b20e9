// SPDX-License-Identifier: Apache-2.0
package import Consents

/// Makes a consent's receipt of its record, its trail and the configured notice. It is no event: it hands out no
/// attribute and no token.
package struct IssueReceipt: Sendable {
    private let read: ReadConsent
    private let events: ReadEvents
    private let notices: [PrivacyNotice]
    private let time: any Timekeeper

    /// - Parameter notices: those of the configuration.
    package init(read: ReadConsent, events: ReadEvents, notices: [PrivacyNotice], time: any Timekeeper) {
        self.read = read
        self.events = events
        self.notices = notices
        self.time = time
    }

    /// - Throws: `notFound`, `storeUnavailable`, `ourFault`; `storeUnavailable` as well where the record changes
    ///   faster than it can be read.
    package func callAsFunction(_ id: ConsentID) async throws(ConsentFailure) -> ConsentReceipt {
        var consent = try await read(id)
        for _ in 0..<8 {
            let trail = try await events(id)
            let again = try await read(id)
            // The same record before and after: the trail between the two readings is its own.
            if again.record.isSameState(as: consent.record) {
                let notice = notices.first { $0.reference == consent.record.notice?.text }
                let receipt = ConsentReceipt(consent: consent, events: trail, notice: notice, issuedAt: time.now)
                guard let receipt else { throw .notFound }
                return receipt
            }
            consent = again
        }
        throw .storeUnavailable
    }
}

extension ConsentRecord {
    /// Whether nothing that a receipt tells has changed between the two readings.
    fileprivate func isSameState(as other: ConsentRecord) -> Bool {
        status == other.status && generation == other.generation && updatedAt == other.updatedAt
            && statusReason == other.statusReason && granted == other.granted && notice == other.notice
    }
}
