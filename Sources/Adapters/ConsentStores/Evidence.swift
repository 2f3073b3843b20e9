// SPDX-License-Identifier: Apache-2.0
package import Consents

extension SQLStore {
    @discardableResult
    package func appendOnce(_ event: EventDraft, to id: ConsentID, since: Instant) async throws(StoreFailure)
        -> WriteAnswer
    {
        // Nearly always it stands there already; a reader tells so without a transaction of the writer's.
        let known = try await readers.read { connection throws(SQLError) in
            try Evidence.answer(to: event, in: id, since: since, isHeld: false, connection)
        }
        if let known { return known }
        return try await writer.write(.finishes) { [rules] connection throws(SQLError) in
            if let known = try Evidence.answer(to: event, in: id, since: since, isHeld: true, connection) {
                return known
            }
            try rules.append([event], to: id, in: connection)
            return .written
        }
    }

    package func ledgerRecords(after: ConsentID?, limit: Int) async throws(StoreFailure) -> [LedgerRecord] {
        try await readers.read { connection throws(SQLError) in
            let rows = try connection.prepare(LedgerRows.page)
            try rows.bind(after?.uuid.bytes ?? [], max(0, limit))
            var records: [LedgerRecord] = []
            while try rows.step() { records.append(try LedgerRows.record(rows)) }
            return records
        }
    }

    package func ledgerRecord(_ id: ConsentID) async throws(StoreFailure) -> LedgerRecord? {
        try await readers.read { connection throws(SQLError) in
            let row = try connection.prepare(LedgerRows.one)
            try row.bind(id)
            return try row.step() ? try LedgerRows.record(row) : nil
        }
    }

    package func chain(of id: ConsentID) async throws(StoreFailure) -> [ChainLink] {
        try await readers.read { connection throws(SQLError) in
            let rows = try connection.prepare(EvidenceQueries.links)
            try rows.bind(id)
            var links: [ChainLink] = []
            while try rows.step() {
                let (sequence, canonical) = (rows.integer(), rows.blob())
                let (mac, period) = (rows.blob(), rows.integer())
                links.append(
                    ChainLink(
                        sequence: sequence, canonical: canonical, mac: mac, period: period,
                        told: EventText.told(canonical, personal: rows.optionalSealed())))
            }
            return links
        }
    }
}

private enum Evidence {
    /// Why the event is not to be written; nil where it is.
    static func answer(
        to event: EventDraft, in id: ConsentID, since: Instant, isHeld: Bool, _ connection: borrowing SQLConnection
    ) throws(SQLError) -> WriteAnswer? {
        guard let state = try ConsentState(id, isHeld: isHeld, in: connection), event.type.mayBeTold(in: state.status)
        else {
            return .ended
        }
        return try stands(event, in: id, since: since, connection) ? .alreadyWritten : nil
    }

    /// Whether an event of that type by that caller stands in the chain since that moment.
    static func stands(
        _ event: EventDraft, in id: ConsentID, since: Instant, _ connection: borrowing SQLConnection
    ) throws(SQLError) -> Bool {
        let query =
            switch event.type {
            case .profileRead, .tokenRead: EvidenceQueries.readingSince
            default: EvidenceQueries.anySince
            }
        let rows = try connection.prepare(query)
        try rows.bind(id, event.type.rawValue, since)
        while try rows.step() {
            if try EventText.draft(rows.blob(), personal: nil).caller == event.caller { return true }
        }
        return false
    }
}

private enum EvidenceQueries {
    /// The types that the index `events_of_reading` holds.
    static let readingSince = SQLQuery(
        """
        SELECT CAST(canonical AS BLOB) FROM events INDEXED BY events_of_reading
        WHERE consent_id = ? AND type IN ('consent.profile_read', 'consent.token_read') AND type = ? AND at >= ?
        """)
    static let anySince = SQLQuery(
        """
        SELECT CAST(canonical AS BLOB) FROM events WHERE consent_id = ? AND type = ? AND at >= ?
        """)
    /// As bytes: a text that was altered to bad UTF-8 would be repaired on its way.
    static let links = SQLQuery(
        "SELECT seq, CAST(canonical AS BLOB), mac, period, personal_sealed FROM events WHERE consent_id = ? ORDER BY seq"
    )
}
