// SPDX-License-Identifier: Apache-2.0
package import Consents

extension SQLStore {
    package func withdraw(_ withdrawal: Withdrawal) async throws(StoreFailure) -> WithdrawAnswer {
        try await writer.write(.finishes) { [rules] connection throws(SQLError) in
            try rules.withdraw(withdrawal, in: connection)
        }
    }
}

extension WritingRules {
    fileprivate func withdraw(_ withdrawal: Withdrawal, in connection: borrowing SQLConnection)
        throws(SQLError) -> WithdrawAnswer
    {
        guard let state = try ConsentState(withdrawal.id, isHeld: true, in: connection) else { return .absent }
        switch state.status {
        case .revoked: return .alreadyRevoked
        case .superseded: return .superseded
        case .active, .failing, .reauthorizationRequired, .expired: break
        }
        guard state.generation == withdrawal.expectedGeneration else { return .generationMoved }
        try connection.run(WithdrawalQueries.revoke, withdrawal.reason.rawValue, withdrawal.at, withdrawal.id)
        try append([withdrawal.event], to: withdrawal.id, in: connection)
        try releaseRevocations(heldFor: withdrawal.id, at: withdrawal.at, in: connection)
        try queue(withdrawal.revocations, at: withdrawal.at, in: connection)
        return .withdrawn
    }
}

private enum WithdrawalQueries {
    /// The consent's key and both subjects stay: the record is still read. A refresh on the wire finds an ended record
    /// when it comes to save.
    static let revoke = SQLQuery(
        """
        UPDATE consents SET status = 'revoked', status_reason = ?, is_refreshable = 0, tokens_sealed = NULL,
            spare_tokens_sealed = NULL, spare_generation = NULL, profile_sealed = NULL,
            profile_status = 'unavailable', due_at = NULL, due_before_claim = NULL, attempt_id = NULL, attempt_phase = NULL, attempt_owner = NULL,
            attempt_sent_at = NULL, lease_until = NULL, lease_boot = NULL, unknown_attempt_id = NULL,
            unknown_owner = NULL, unknown_sent_at = NULL, updated_at = ?
        WHERE id = ?
        """)
}
