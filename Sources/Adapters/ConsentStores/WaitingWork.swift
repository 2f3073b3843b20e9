// SPDX-License-Identifier: Apache-2.0
package import Consents

extension SQLStore {
    package func waitingWork(at now: Instant) async throws(StoreFailure) -> WaitingWork {
        try await readers.read { [rules] connection throws(SQLError) in
            try connection.snapshot { connection throws(SQLError) in
                let refreshes = try connection.prepare(WaitingQueries.refreshes)
                try refreshes.bind(now)
                let profiles = try connection.prepare(WaitingQueries.profiles)
                try profiles.bind()
                let left = try rules.abandonedCounts(in: connection)
                return WaitingWork(
                    grants: left.grants, codesOnTheWire: left.codes, refreshesOnTheWire: left.refreshes,
                    revocations: try rules.freeRevocations(at: now, in: connection),
                    refreshes: try counts(refreshes), profiles: try counts(profiles))
            }
        }
    }
}

extension WritingRules {
    /// Those that are due and that no living instance has on the wire.
    fileprivate func freeRevocations(at now: Instant, in connection: borrowing SQLConnection) throws(SQLError)
        -> [ProviderCount]
    {
        let rows = try connection.prepare(WaitingQueries.revocations)
        try rows.bind(now)
        var counts: [ProviderCount] = []
        while try rows.step() {
            let provider = rows.provider()
            let owner = try rows.optionalIdentifier()
            let until = rows.integer()
            if let owner, let boot = rows.optionalText(),
                try leases.stands(Lease(owner: InstanceID(owner), until: until, boot: boot), in: connection)
            {
                continue
            }
            if counts.last?.provider == provider {
                counts[counts.count - 1].count += 1
            } else {
                counts.append(ProviderCount(provider: provider, count: 1))
            }
        }
        return counts
    }
}

private func counts(_ rows: borrowing SQLStatement) throws(SQLError) -> [ProviderCount] {
    var counts: [ProviderCount] = []
    while try rows.step() {
        counts.append(ProviderCount(provider: rows.provider(), count: Int(rows.integer())))
    }
    return counts
}

private enum WaitingQueries {
    static let revocations = SQLQuery(
        """
        SELECT provider, environment, owner, lease_until, lease_boot FROM revocation_outbox
        WHERE state = 'pending' AND due_at <= ? ORDER BY provider, environment
        """)
    /// While a refresh is on the wire, its `due_at` is the lease's end.
    static let refreshes = SQLQuery(
        """
        SELECT provider, environment, count(*) FROM consents
        WHERE due_at IS NOT NULL AND due_at <= ? AND is_refreshable = 1 AND status IN ('active', 'failing')
        GROUP BY provider, environment ORDER BY provider, environment
        """)
    static let profiles = SQLQuery(
        """
        SELECT provider, environment, count(*) FROM consents INDEXED BY consents_pending_profile
        WHERE profile_status = 'pending' AND (status = 'active' OR status = 'failing')
        GROUP BY provider, environment ORDER BY provider, environment
        """)
}
