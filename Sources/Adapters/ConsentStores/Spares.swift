// SPDX-License-Identifier: Apache-2.0
package import Consents

extension SQLStore {
    package func promoteSpare(_ promotion: SparePromotion) async throws(StoreFailure) -> WriteAnswer {
        try await writer.write(.finishes) { [rules] connection throws(SQLError) in
            try rules.promote(promotion, in: connection)
        }
    }
}

extension WritingRules {
    /// Keeps what lost a race, or what is newer than a row that came back from a copy.
    ///
    /// Not where the row has gone on by more than the winner's tokens: then these may be a line that was saved and spent
    /// long ago, and comes once more from a journal. Not after a renewal either, which began another grant.
    func keepSpare(_ write: TokenWrite, in row: RefreshRow, in connection: borrowing SQLConnection)
        throws(SQLError)
    {
        let isLoser = row.generation == write.expectedGeneration + 1 && row.saved != nil
        guard row.status.isGrantHeld, isLoser || row.generation < write.expectedGeneration else { return }
        let generation = write.expectedGeneration + 1
        // The same tokens once more, after a commit of unknown fate or from a journal, are no news.
        guard try connection.rows(changedBy: SpareQueries.keep, write.tokens, generation, write.id, write.tokens) > 0
        else {
            return
        }
        let event = EventDraft(
            type: .spareKept, at: write.at, caller: write.events.first?.caller ?? "gateway", requestID: nil,
            data: ["generation": .integer(generation)])
        try append([event], to: write.id, in: connection)
    }

    fileprivate func promote(_ promotion: SparePromotion, in connection: borrowing SQLConnection)
        throws(SQLError) -> WriteAnswer
    {
        guard let row = try RefreshRow(promotion.id, in: connection), row.status.isGrantHeld else { return .ended }
        if row.saved == promotion.attempt { return .alreadyWritten }
        guard row.generation == promotion.generation, row.attempt == promotion.attempt,
            try connection.rows(
                changedBy: SpareQueries.promote, promotion.tokens, promotion.at, promotion.attempt, promotion.at,
                promotion.id,
                promotion.spareGeneration) > 0
        else { return .generationMoved }
        if let note = promotion.health { try take(note, of: promotion.attempt, at: promotion.at, in: connection) }
        try append([promotion.event], to: promotion.id, in: connection)
        return .written
    }
}

private enum SpareQueries {
    static let keep = SQLQuery(
        """
        UPDATE consents SET spare_tokens_sealed = ?, spare_generation = ?
        WHERE id = ? AND spare_tokens_sealed IS DISTINCT FROM ?
        """)

    /// When the spare's access token lapses is not known: the time that stands there is as good a guess, and it is
    /// refreshed at once.
    static let promote = SQLQuery(
        """
        UPDATE consents SET generation = generation + 1, tokens_sealed = ?, spare_tokens_sealed = NULL,
            spare_generation = NULL, due_at = ?, saved_attempt = ?, updated_at = ?, due_before_claim = NULL,
            attempt_id = NULL, attempt_phase = NULL, attempt_owner = NULL, attempt_sent_at = NULL, lease_until = NULL,
            lease_boot = NULL, unknown_attempt_id = NULL, unknown_owner = NULL, unknown_sent_at = NULL
        WHERE id = ? AND spare_generation = ?
        """)
}
