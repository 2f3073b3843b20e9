// SPDX-License-Identifier: Apache-2.0
import Consents

/// Whether a person at a provider belongs to another subject already. Where that is refused, of two transactions that ask
/// it of the same person at the same moment the second sees what the first has written.
extension WritingRules {
    func isShared(
        _ person: BlindIndex?, of consent: StoredConsent, _ rule: SharedSubjectRule?,
        in connection: borrowing SQLConnection
    ) throws(SQLError) -> Bool {
        // Nearly always it is not looked for.
        guard rule != nil, let person else { return false }
        return try isShared(person, of: consent.record.provider, consent.subjectIndex, rule, in: connection)
    }

    func isShared(
        _ person: BlindIndex, of provider: ProviderKey, _ subject: BlindIndex, _ rule: SharedSubjectRule?,
        in connection: borrowing SQLConnection
    ) throws(SQLError) -> Bool {
        guard let rule else { return false }
        // A warning that two of the same moment miss is not worth a lock at each exchange.
        if rule == .refuse { try connection.holdPerson(person) }
        let row = try connection.prepare(SharingQueries.another)
        try row.bind(person, provider.name, provider.environmentColumn, subject)
        return try row.step()
    }
}

extension EventDraft {
    /// Who made the call, and that the person is another subject's as well.
    var ofSharing: EventDraft {
        EventDraft(type: .providerSubjectShared, at: at, caller: caller, requestID: requestID)
    }
}

private enum SharingQueries {
    /// By the person: left to itself, SQLite goes through all records of the provider.
    static let another = SQLQuery(
        """
        SELECT 1 FROM consents INDEXED BY consents_by_person
        WHERE is_sharing_watched = 1 AND provider_subject_index = ? AND provider = ? AND environment = ?
            AND subject_index <> ? AND (status = 'active' OR status = 'failing' OR status = 'reauthorization_required')
        LIMIT 1
        """)
}
