// SPDX-License-Identifier: Apache-2.0
package import Consents

extension SQLStore {
    package func tellOfOtherSubject(_ subject: BlindIndex, presenting code: BlindIndex, _ event: EventDraft)
        async throws(StoreFailure)
    {
        try await writer.write(.finishes) { [rules] connection throws(SQLError) in
            try rules.tellOfClaim(by: subject, on: code, event, in: connection)
        }
    }
}

extension WritingRules {
    /// How many claims are kept beside one code.
    private static let mostClaims = 8

    fileprivate func tellOfClaim(
        by subject: BlindIndex, on code: BlindIndex, _ event: EventDraft, in connection: borrowing SQLConnection
    ) throws(SQLError) {
        // Whoever asks first may not have got as far as the store yet: then there is no row.
        if let row = try CodeRow(code, in: connection) {
            if let consent = row.consent {
                try append([event], to: consent, in: connection)
                return
            }
            // Such a code becomes no consent any more.
            if row.state == .ended, !row.takesGrant { return }
        }
        try connection.run(
            ClaimQueries.keep, code, subject, event.caller, event.requestID, event.at, code, WritingRules.mostClaims)
    }

    /// Moves what was told of a code before it had a consent into that consent's trail.
    func tellOfEarlierClaims(on code: BlindIndex, to consent: ConsentID, in connection: borrowing SQLConnection)
        throws(SQLError)
    {
        let events = try claims(on: code, in: connection)
        if events.isEmpty { return }
        try append(events, to: consent, in: connection)
        try dropClaims(on: code, in: connection)
    }

    func dropClaims(on code: BlindIndex, in connection: borrowing SQLConnection) throws(SQLError) {
        try connection.run(ClaimQueries.remove, code)
    }

    private func claims(on code: BlindIndex, in connection: borrowing SQLConnection) throws(SQLError)
        -> [EventDraft]
    {
        let rows = try connection.prepare(ClaimQueries.select)
        try rows.bind(code)
        var events: [EventDraft] = []
        while try rows.step() {
            events.append(
                EventDraft(
                    type: .codeOfOtherSubject, at: rows.instant(), caller: rows.text(),
                    requestID: rows.optionalText()))
        }
        return events
    }
}

private enum ClaimQueries {
    static let keep = SQLQuery(
        """
        INSERT INTO code_claims (digest, subject_index, caller, request_id, at)
        SELECT ?, ?, ?, ?, ? WHERE (SELECT count(*) FROM code_claims WHERE digest = ?) < ?
        ON CONFLICT DO NOTHING
        """)
    static let select = SQLQuery(
        "SELECT at, caller, request_id FROM code_claims WHERE digest = ? ORDER BY at, subject_index, caller")
    static let remove = SQLQuery("DELETE FROM code_claims WHERE digest = ?")
}
