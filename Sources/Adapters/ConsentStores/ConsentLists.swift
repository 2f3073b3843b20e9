// SPDX-License-Identifier: Apache-2.0
package import Consents

extension SQLStore {
    package func consents(_ query: ConsentQuery) async throws(StoreFailure) -> ConsentPage {
        try await readers.read { connection throws(SQLError) in
            // One moment for identifiers and rows: a row that left the list between them would stand in it all the same.
            try connection.snapshot { connection throws(SQLError) in
                let limit = max(1, query.limit)
                let found = try ConsentList.identifiers(query, limit: limit + 1, in: connection)
                var items: [StoredConsent] = []
                for id in found.prefix(limit) {
                    if let consent = try ConsentRows.consent(id, in: connection) { items.append(consent) }
                }
                return ConsentPage(items: items, next: found.count > limit ? found[limit - 1] : nil)
            }
        }
    }
}

/// Which records a list names. Each way goes down one index in the order of identifiers and reads no more than the page,
/// but for a subject's, of which there are few: those are all read and sorted.
private enum ConsentList {
    static func identifiers(
        _ query: ConsentQuery, limit: Int, in connection: borrowing SQLConnection
    ) throws(SQLError) -> [ConsentID] {
        let start = query.before?.uuid.bytes ?? afterAll
        if let subject = query.subject {
            let status = query.status?.rawValue
            let rows = try connection.prepare(ListQueries.ofSubject)
            try rows.bind(subject, start, query.provider, query.provider, status, status, limit)
            return try identifiers(rows)
        }
        guard query.provider != nil || query.status != nil else {
            let rows = try connection.prepare(ListQueries.all)
            try rows.bind(start, limit)
            return try identifiers(rows)
        }
        let providers = if let provider = query.provider { [provider] } else { try allProviders(in: connection) }
        let statuses = query.status.map { [$0] } ?? ConsentStatus.allCases
        var found: [ConsentID] = []
        for provider in providers {
            for status in statuses {
                let rows = try connection.prepare(ListQueries.ofProvider)
                try rows.bind(provider, status.rawValue, start, limit)
                found += try identifiers(rows)
            }
        }
        return Array(found.sorted(by: >).prefix(limit))
    }

    /// Behind every identifier: those have 16 bytes.
    private static let afterAll = [UInt8](repeating: 0xFF, count: 17)

    /// The names that stand in the records, each found by one step through the index.
    private static func allProviders(in connection: borrowing SQLConnection) throws(SQLError) -> [String] {
        var names: [String] = []
        var last = ""
        while true {
            let row = try connection.prepare(ListQueries.nextProvider)
            try row.bind(last)
            guard try row.step(), let name = row.optionalText() else { return names }
            names.append(name)
            last = name
        }
    }

    private static func identifiers(_ rows: borrowing SQLStatement) throws(SQLError) -> [ConsentID] {
        var found: [ConsentID] = []
        while try rows.step() { found.append(ConsentID(try rows.identifier())) }
        return found
    }
}

private enum ListQueries {
    static let all = SQLQuery("SELECT id FROM consents WHERE id < ? ORDER BY id DESC LIMIT ?")
    /// The other filters are held against each.
    static let ofSubject = SQLQuery(
        """
        SELECT id FROM consents INDEXED BY consents_by_subject
        WHERE subject_index = ? AND id < ? AND (? IS NULL OR provider = ?) AND (? IS NULL OR status = ?)
        ORDER BY id DESC LIMIT ?
        """)
    static let ofProvider = SQLQuery(
        """
        SELECT id FROM consents INDEXED BY consents_by_provider
        WHERE provider = ? AND status = ? AND id < ? ORDER BY id DESC LIMIT ?
        """)
    static let nextProvider = SQLQuery(
        """
        SELECT provider FROM consents INDEXED BY consents_by_provider WHERE provider > ? ORDER BY provider LIMIT 1
        """)
}
