// SPDX-License-Identifier: Apache-2.0
internal import Consents

/// A consent's row as its evidence is verified by.
enum LedgerRows {
    private static let texts: [RecordColumn] = [
        .provider, .environment, .status, .statusReason, .requested, .granted, .notice, .appPlatform, .appProduct,
        .appVersion,
    ]
    private static let numbers: [RecordColumn] = [
        .isNoticeAssumed, .accessTokenExpiresAt, .isRefreshable, .createdAt, .erasedAt,
    ]
    private static let columns = (texts + numbers).map(\.rawValue).joined(separator: ", ")
    private static let select = """
        SELECT id, event_count, chain_head, \(columns), superseded_by, key_sealed, subject_sealed, subject_index,
            provider_subject_sealed, provider_subject_index
        FROM consents
        """
    static let page = SQLQuery("\(select) WHERE id > ? ORDER BY id LIMIT ?")
    static let one = SQLQuery("\(select) WHERE id = ?")

    static func record(_ row: borrowing SQLStatement) throws(SQLError) -> LedgerRecord {
        let head = ChainHead(id: ConsentID(try row.identifier()), count: row.integer(), mac: row.blob())
        var values: [RecordColumn: EventValue] = [:]
        for column in texts { values[column] = row.optionalText().map(EventValue.text) }
        for column in numbers { values[column] = row.optionalInteger().map(EventValue.integer) }
        // As an event writes it; of a wrong length, a text that no event has.
        values[.supersededBy] = row.optionalBlob().map { bytes in
            .text(UUIDv7(bytes: bytes).map { ConsentID($0).description } ?? Hexadecimal.text(of: bytes))
        }
        return LedgerRecord(
            head: head, facts: RecordFacts(values), key: row.optionalSealed(), subject: row.optionalSealed(),
            subjectIndex: BlindIndex(row.blob()), providerSubject: row.optionalSealed(),
            providerSubjectIndex: row.optionalIndex())
    }
}
