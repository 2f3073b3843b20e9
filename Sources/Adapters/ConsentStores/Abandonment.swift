// SPDX-License-Identifier: Apache-2.0
package import Consents

extension SQLStore {
    package func adoptAbandoned(limit: Int, policies: [ProviderKey: RefreshPolicy], at now: Instant)
        async throws(StoreFailure) -> Abandoned
    {
        try await writer.write(.finishes) { [rules] connection throws(SQLError) in
            let found = try rules.abandonedCodes(in: connection)
            for digest in found.sent where try rules.isAbandoned(digest, .sent, in: connection) {
                try connection.run(CodeQueries.nameUnknown, now, digest)
            }
            let refreshes = try rules.abandonedRefreshes(in: connection)
            for id in refreshes where try rules.isAbandoned(id, in: connection) {
                try rules.nameUnknown(id, policies, at: now, in: connection)
            }
            let grants = try rules.adopt(found.kept.prefix(max(0, limit)), at: now, in: connection)
            return Abandoned(
                codesNamedUnknown: found.sent.count, refreshesNamedUnknown: refreshes.count, grants: grants)
        }
    }
}

extension WritingRules {
    /// Looked at in one go, oldest first. Living instances have few: what is on the wire now.
    private static let most = 1000

    /// How many of each kind `adoptAbandoned` would find; changes nothing.
    func abandonedCounts(in connection: borrowing SQLConnection) throws(SQLError)
        -> (grants: Int, codes: Int, refreshes: Int)
    {
        let codes = try abandonedCodes(in: connection)
        return (codes.kept.count, codes.sent.count, try abandonedRefreshes(in: connection).count)
    }

    fileprivate func abandonedCodes(in connection: borrowing SQLConnection) throws(SQLError)
        -> (sent: [BlindIndex], kept: [BlindIndex])
    {
        (try abandoned(.sent, in: connection), try abandoned(.kept, in: connection))
    }

    private func abandoned(_ state: CodeRow.State, in connection: borrowing SQLConnection) throws(SQLError)
        -> [BlindIndex]
    {
        let rows = try connection.prepare(AbandonmentQueries.unsettledCodes)
        try rows.bind(state.rawValue)
        var found: [BlindIndex] = []
        while found.count < WritingRules.most, try rows.step() {
            let digest = BlindIndex(rows.blob())
            let lease = Lease(owner: InstanceID(try rows.identifier()), until: rows.integer(), boot: rows.text())
            if try !leases.stands(lease, in: connection) { found.append(digest) }
        }
        return found
    }

    fileprivate func abandonedRefreshes(in connection: borrowing SQLConnection) throws(SQLError)
        -> [ConsentID]
    {
        let rows = try connection.prepare(AbandonmentQueries.sentRefreshes)
        try rows.bind()
        var found: [ConsentID] = []
        while found.count < WritingRules.most, try rows.step() {
            let id = ConsentID(try rows.identifier())
            let owner = try rows.optionalIdentifier()
            let until = rows.integer()
            let boot = rows.optionalText()
            if let owner, let boot,
                try leases.stands(Lease(owner: InstanceID(owner), until: until, boot: boot), in: connection)
            {
                continue
            }
            found.append(id)
        }
        return found
    }

    /// Whether a code is in that state and its owner is gone: looked at once more with the row held, for another instance
    /// may have taken it since it was found.
    fileprivate func isAbandoned(
        _ code: BlindIndex, _ state: CodeRow.State, in connection: borrowing SQLConnection
    ) throws(SQLError) -> Bool {
        guard connection.hasOtherWriters else { return true }
        guard let row = try CodeRow(code, in: connection), row.state == state else { return false }
        return try !leases.stands(row.lease, in: connection)
    }

    /// As of a code, of a refresh on the wire.
    fileprivate func isAbandoned(_ id: ConsentID, in connection: borrowing SQLConnection) throws(SQLError) -> Bool {
        guard connection.hasOtherWriters else { return true }
        guard let row = try RefreshRow(id, in: connection), row.phase == .sent else { return false }
        guard let lease = row.lease else { return true }
        return try !leases.stands(lease, in: connection)
    }

    /// Makes kept grants this instance's, for as long as their owner's lease was.
    fileprivate func adopt(
        _ codes: some Sequence<BlindIndex>, at now: Instant, in connection: borrowing SQLConnection
    ) throws(SQLError) -> [(code: BlindIndex, sealed: SealedBytes)] {
        var grants: [(code: BlindIndex, sealed: SealedBytes)] = []
        for code in codes {
            guard try isAbandoned(code, .kept, in: connection), let row = try CodeRow(code, in: connection),
                let grant = row.grant
            else { continue }
            let lease = try leases.lease(for: .milliseconds(row.leaseLength), in: connection)
            try connection.run(CodeQueries.adopt, row.attempt, lease.owner, lease.until, lease.boot, now, code)
            grants.append((code, grant))
        }
        return grants
    }
}

private enum AbandonmentQueries {
    static let unsettledCodes = SQLQuery(
        """
        SELECT digest, owner, lease_until, lease_boot FROM code_reservations
        WHERE unsettled_since IS NOT NULL AND state = ? ORDER BY unsettled_since
        """)
    static let sentRefreshes = SQLQuery(
        """
        SELECT id, attempt_owner, lease_until, lease_boot FROM consents
        WHERE attempt_phase = 'sent' ORDER BY attempt_sent_at
        """)
}
