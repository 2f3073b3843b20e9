// SPDX-License-Identifier: Apache-2.0
package import Consents

extension SQLStore: PendingProfiles {
    package func pendingProfiles(of provider: ProviderKey, at now: Instant, limit: Int) async throws(StoreFailure)
        -> [PendingProfile]
    {
        try await readers.read { connection throws(SQLError) in
            let rows = try connection.prepare(ProfileQueries.pending)
            try rows.bind(provider.name, now, provider.environmentColumn, max(0, limit))
            var found: [PendingProfile] = []
            while try rows.step() {
                found.append(PendingProfile(id: ConsentID(try rows.identifier()), tries: Int(rows.integer())))
            }
            return found
        }
    }

    package func claimProfile(_ pending: PendingProfile, again later: Instant, at now: Instant)
        async throws(StoreFailure) -> Bool
    {
        try await writer.write(.starts) { connection throws(SQLError) in
            try connection.rows(changedBy: ProfileQueries.claim, later, pending.id, pending.tries, now) > 0
        }
    }
}

private enum ProfileQueries {
    /// Of a grant that is gone no profile can be had any more.
    static let pending = SQLQuery(
        """
        SELECT id, profile_tries FROM consents INDEXED BY consents_pending_profile
        WHERE profile_status = 'pending' AND (status = 'active' OR status = 'failing') AND provider = ?
            AND profile_due_at <= ? AND environment = ?
        ORDER BY profile_due_at LIMIT ?
        """)
    static let claim = SQLQuery(
        """
        UPDATE consents SET profile_due_at = ?, profile_tries = profile_tries + 1
        WHERE id = ? AND profile_tries = ? AND profile_due_at <= ? AND profile_status = 'pending'
        """)
}
