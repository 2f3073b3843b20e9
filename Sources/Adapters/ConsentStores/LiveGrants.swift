// SPDX-License-Identifier: Apache-2.0
package import Consents

extension SQLStore {
    /// How many active and failing grants each provider has in a store with this program's schema, for whoever does not
    /// open it. Goes through all consents; makes and changes nothing; blocks until done.
    /// - Throws: `damaged`, `retryLater`, `outOfReach`.
    package static func liveGrants(in location: StoreLocation) throws(StoreFailure) -> [ProviderCount] {
        let clock = try bootClock()
        return try translated { () throws(SQLError) in
            let connection = try location.connectionForReading(clock)
            let rows = try connection.prepare(LiveQueries.count)
            var counts: [ProviderCount] = []
            while try rows.step() {
                counts.append(ProviderCount(provider: rows.provider(), count: Int(rows.integer())))
            }
            return counts
        }
    }
}

private enum LiveQueries {
    static let count = SQLQuery(
        """
        SELECT provider, environment, count(*) FROM consents WHERE status = 'active' OR status = 'failing'
        GROUP BY provider, environment ORDER BY provider, environment
        """)
}
