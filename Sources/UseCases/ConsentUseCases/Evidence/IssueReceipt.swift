// SPDX-License-Identifier: Apache-2.0
package import Consents
package import Observability

/// Makes a consent's receipt of its chain of events, its record as far as the chain bears it out, and the configured
/// notice. It is no event: it hands out no attribute and no token.
package struct IssueReceipt: Sendable {
    private let read: ReadConsent
    private let store: any ConsentStore
    private let check: RecordCheck
    private let notices: [PrivacyNotice]
    private let time: any Timekeeper
    private let log: Log

    /// - Parameter notices: those of the configuration.
    package init(
        read: ReadConsent, store: any ConsentStore, check: RecordCheck, notices: [PrivacyNotice],
        time: any Timekeeper, log: Log
    ) {
        self.read = read
        self.store = store
        self.check = check
        self.notices = notices
        self.time = time
        self.log = log
    }

    /// - Throws: `notFound`, `storeUnavailable`, `ourFault`; `evidenceDiffers` where the chain does not hold or the
    ///   record tells something else; `storeUnavailable` as well where the record changes faster than it can be read.
    package func callAsFunction(_ id: ConsentID) async throws(ConsentFailure) -> ConsentReceipt {
        for _ in 0..<8 {
            let consent = try await read(id)
            let (record, links) = try await evidence(of: id)
            // The same record before and after: the trail between the two readings is its own.
            guard try await read(id).record.isSameState(as: consent.record) else { continue }
            try hold(record, links)
            let events = links.compactMap { link in
                link.draft.map { StoredEvent(sequence: link.sequence, draft: $0, mac: link.mac) }
            }
            let notice = notices.first { $0.reference == consent.record.notice?.text }
            let receipt = ConsentReceipt(consent: consent, events: events, notice: notice, issuedAt: time.now)
            guard let receipt else { throw .notFound }
            return receipt
        }
        throw .storeUnavailable
    }

    /// The row, and the events that stood when it was read.
    private func evidence(of id: ConsentID) async throws(ConsentFailure) -> (LedgerRecord, [ChainLink]) {
        let record: LedgerRecord?
        let links: [ChainLink]
        do {
            record = try await store.ledgerRecord(id)
            links = try await store.chain(of: id)
        } catch {
            throw .storeUnavailable
        }
        guard let record else { throw .notFound }
        return (record, links.filter { $0.sequence <= record.head.count })
    }

    private func hold(_ record: LedgerRecord, _ links: [ChainLink]) throws(ConsentFailure) {
        var doubts = check.differences(record, links).map(\.column.rawValue)
        if let broken = check.chainFault(record.head, links) {
            doubts = ["event \(broken.sequence) (\(broken.fault.rawValue))"]
        }
        guard !doubts.isEmpty else { return }
        log.error(
            "a receipt was refused: the record and its chain of events do not agree",
            [Fact(.consentID, "\(record.head.id)"), Fact(.reason, doubts.joined(separator: ", "))])
        throw .evidenceDiffers(doubts)
    }
}

extension ConsentRecord {
    /// Whether nothing that a receipt tells has changed between the two readings.
    fileprivate func isSameState(as other: ConsentRecord) -> Bool {
        status == other.status && generation == other.generation && updatedAt == other.updatedAt
            && statusReason == other.statusReason && granted == other.granted && notice == other.notice
            && requested == other.requested && client == other.client && supersededBy == other.supersededBy
    }
}
