// SPDX-License-Identifier: Apache-2.0
package import Consents

extension SQLStore {
    package func saveProfile(_ write: ProfileWrite) async throws(StoreFailure) -> ProfileAnswer {
        try await writer.write(.finishes) { [rules] connection throws(SQLError) in
            try rules.saveProfile(write, in: connection)
        }
    }
}

extension WritingRules {
    fileprivate func saveProfile(_ write: ProfileWrite, in connection: borrowing SQLConnection)
        throws(SQLError) -> ProfileAnswer
    {
        guard let state = try ConsentState(write.id, isHeld: true, in: connection), state.status.isLive else {
            return .ended
        }
        if let again = write.tokens, again.generation != state.generation { return .generationMoved }
        guard let found = write.providerSubject, found.index != state.providerSubjectIndex else {
            try save(write, in: connection)
            return .saved
        }
        guard state.providerSubjectIndex == nil else { return .providerSubjectDiffers }
        let isShared = try isShared(found.index, of: state.provider, state.subjectIndex, write.sharing, in: connection)
        if isShared, write.sharing == .refuse { return .sharedSubject }
        guard let other = try liveID(of: state.provider, state.subjectIndex, found.index, in: connection),
            let otherState = try ConsentState(other, isHeld: true, in: connection), otherState.status.isLive
        else {
            try save(write, in: connection)
            if isShared { try append([write.superseding.ofSharing], to: write.id, in: connection) }
            return .saved
        }
        guard (otherState.createdAt, other) < (state.createdAt, write.id) else {
            try supersede(write.id, by: other, write.superseding, at: write.at, in: connection)
            return .gaveWay(to: other)
        }
        // The older one first: the index holds one live row of the four.
        try supersede(other, by: write.id, write.superseding, at: write.at, in: connection)
        try save(write, in: connection)
        return .superseded(other)
    }

    private func save(_ write: ProfileWrite, in connection: borrowing SQLConnection) throws(SQLError) {
        try connection.run(
            ProfileQueries.save, write.status.rawValue, write.profile, write.fetchedAt, write.providerSubject?.index,
            write.providerSubject?.sealed, write.at, write.id)
        if let again = write.tokens { try connection.run(ProfileQueries.sealAgain, again.sealed, write.id) }
        try append(write.events, to: write.id, in: connection)
    }

    private func supersede(
        _ older: ConsentID, by newer: ConsentID, _ event: EventDraft, at now: Instant,
        in connection: borrowing SQLConnection
    ) throws(SQLError) {
        var event = event
        event.data["superseded_by"] = .text(newer.description)
        try connection.run(ProfileQueries.supersede, newer, now, older)
        try append([event], to: older, in: connection)
    }
}

private enum ProfileQueries {
    /// A provider subject that is there stays as it is.
    static let save = SQLQuery(
        """
        UPDATE consents SET profile_status = ?, profile_sealed = coalesce(?, profile_sealed),
            profile_fetched_at = coalesce(?, profile_fetched_at),
            provider_subject_index = coalesce(provider_subject_index, ?),
            provider_subject_sealed = coalesce(provider_subject_sealed, ?), updated_at = ?
        WHERE id = ?
        """)
    /// No other tokens: the generation stays, and so does all that hangs on it.
    static let sealAgain = SQLQuery(
        "UPDATE consents SET tokens_sealed = ? WHERE id = ? AND tokens_sealed IS NOT NULL")
    static let supersede = SQLQuery(
        """
        UPDATE consents SET status = 'superseded', status_reason = NULL, superseded_by = ?, tokens_sealed = NULL,
            spare_tokens_sealed = NULL, spare_generation = NULL, profile_sealed = NULL,
            profile_status = 'unavailable', is_refreshable = 0, due_at = NULL, due_before_claim = NULL, attempt_id = NULL, attempt_phase = NULL, attempt_owner = NULL,
            attempt_sent_at = NULL, lease_until = NULL, lease_boot = NULL, unknown_attempt_id = NULL,
            unknown_owner = NULL, unknown_sent_at = NULL, updated_at = ?
        WHERE id = ?
        """)
}
