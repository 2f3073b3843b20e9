// SPDX-License-Identifier: Apache-2.0
package import Consents

extension SQLStore: CheckpointStore {
    package func beginCheckpoint(every interval: Duration, at now: Instant) async throws(StoreFailure) -> Bool {
        let (earliest, latest) = (now.advanced(by: .zero - interval), now.advanced(by: interval))
        // Nearly always the last is young; a reader tells so without a transaction of the writer's.
        let isYoung = try await readers.read { connection throws(SQLError) in
            let row = try connection.prepare(CheckpointQueries.young)
            try row.bind(earliest, latest)
            return try row.step()
        }
        if isYoung { return false }
        return try await writer.write(.finishes) { connection throws(SQLError) in
            let row = try connection.prepare(CheckpointQueries.young)
            try row.bind(earliest, latest)
            if try row.step() { return false }
            try connection.awaitOtherWriters()
            return try connection.rows(changedBy: CheckpointQueries.begin, now, earliest, latest) > 0
        }
    }

    package func unsignedCheckpoint() async throws(StoreFailure) -> StoredCheckpoint? {
        try await readers.read { connection throws(SQLError) in
            let row = try connection.prepare(CheckpointQueries.unsigned)
            return try row.step() ? StoredCheckpoint(row) : nil
        }
    }

    package func lastCheckpoint() async throws(StoreFailure) -> StoredCheckpoint.Signed? {
        try await readers.read { connection throws(SQLError) in
            let row = try connection.prepare(CheckpointQueries.last)
            return try row.step() ? StoredCheckpoint(row).signed : nil
        }
    }

    package func checkpoints(after number: Int64, limit: Int) async throws(StoreFailure) -> [StoredCheckpoint] {
        try await readers.read { connection throws(SQLError) in
            let rows = try connection.prepare(CheckpointQueries.page)
            try rows.bind(number, max(0, limit))
            var checkpoints: [StoredCheckpoint] = []
            while try rows.step() { checkpoints.append(StoredCheckpoint(rows)) }
            return checkpoints
        }
    }

    package func chainHeads(atCheckpoint number: Int64, after: ConsentID?, limit: Int) async throws(StoreFailure)
        -> [ChainHead]
    {
        try await readers.read { connection throws(SQLError) in
            var (heads, moved) = ([ChainHead](), [Int]())
            do {
                let rows = try connection.prepare(CheckpointQueries.heads)
                try rows.bind(after?.uuid.bytes ?? [], max(0, limit))
                while try rows.step() {
                    let id = ConsentID(try rows.identifier())
                    heads.append(ChainHead(id: id, count: rows.integer(), mac: rows.blob()))
                    if rows.integer() >= number { moved.append(heads.count - 1) }
                }
            }
            for position in moved {
                let row = try connection.prepare(CheckpointQueries.earlierHead)
                try row.bind(heads[position].id, number)
                let isThere = try row.step()
                heads[position].count = isThere ? row.integer() : 0
                heads[position].mac = isThere ? row.blob() : []
            }
            return heads
        }
    }

    package func sign(_ signed: StoredCheckpoint.Signed) async throws(StoreFailure) -> Bool {
        let checkpoint = signed.checkpoint
        return try await writer.write(.finishes) { connection throws(SQLError) in
            try connection.rows(
                changedBy: CheckpointQueries.sign, checkpoint.consents, checkpoint.events, checkpoint.root,
                checkpoint.previous,
                checkpoint.keyID, signed.signature, checkpoint.number, checkpoint.at) > 0
        }
    }

    package func missingConsents(limit: Int) async throws(StoreFailure) -> [ConsentID] {
        try await readers.read { connection throws(SQLError) in
            let rows = try connection.prepare(CheckpointQueries.missingConsents)
            try rows.bind(max(0, limit))
            var ids: [ConsentID] = []
            while try rows.step() { ids.append(ConsentID(try rows.identifier())) }
            return ids
        }
    }
}

extension StoredCheckpoint {
    fileprivate init(_ row: borrowing SQLStatement) {
        let (number, at) = (row.integer(), row.instant())
        let checkpoint = Checkpoint(
            number: number, at: at, consents: row.integer(), events: row.integer(), root: row.blob(),
            previous: row.text(), keyID: row.text())
        let signature = row.optionalBlob()
        self.init(
            number: number, at: at, signed: signature.map { Signed(checkpoint: checkpoint, signature: $0) })
    }
}

private enum CheckpointQueries {
    private static let columns = "number, at, consent_count, event_count, root, previous, key_id, signature"
    private static let lastSigned =
        "(SELECT number FROM checkpoints WHERE signature IS NOT NULL "
        + "ORDER BY number DESC LIMIT 1)"

    private static let isYoung = "SELECT 1 FROM checkpoints WHERE number = \(period) AND at > ? AND at < ?"

    static let young = SQLQuery(isYoung)
    static let begin = SQLQuery(
        "INSERT INTO checkpoints (number, at) SELECT \(period) + 1, ? WHERE NOT EXISTS (\(isYoung))")
    static let unsigned = SQLQuery(
        "SELECT \(columns) FROM checkpoints WHERE number > coalesce(\(lastSigned), 0) ORDER BY number LIMIT 1")
    static let last = SQLQuery("SELECT \(columns) FROM checkpoints WHERE number = \(lastSigned)")
    static let page = SQLQuery("SELECT \(columns) FROM checkpoints WHERE number > ? ORDER BY number LIMIT ?")
    static let heads = SQLQuery(
        "SELECT id, event_count, chain_head, head_period FROM consents WHERE id > ? ORDER BY id LIMIT ?")
    static let earlierHead = SQLQuery(
        "SELECT seq, mac FROM events WHERE consent_id = ? AND period < ? ORDER BY seq DESC LIMIT 1")
    static let sign = SQLQuery(
        """
        UPDATE checkpoints SET consent_count = ?, event_count = ?, root = ?, previous = ?, key_id = ?, signature = ?
        WHERE number = ? AND at = ? AND signature IS NULL
        """)
    static let missingConsents = SQLQuery(
        """
        SELECT consent_id FROM events
        WHERE NOT EXISTS (SELECT 1 FROM consents WHERE id = events.consent_id)
        UNION
        SELECT consent_id FROM code_reservations
        WHERE consent_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM consents WHERE id = code_reservations.consent_id)
        ORDER BY consent_id LIMIT ?
        """)
}
