// SPDX-License-Identifier: Apache-2.0
internal import Consents

extension SQLStore {
    /// Whether the store can be read and takes writes, and its files are still the ones that were opened. Where no
    /// commit vouches for the next one, a number is written. Ends within the limits' `busyTimeout` and what the disk
    /// takes; whoever cannot wait so long asks with a deadline of their own.
    package func storeIsReady() async -> Bool {
        do throws(StoreFailure) {
            try guardian?.check(writeAheadLog: nil)
            guard try await readers.read(Readiness.look) else { return false }
            switch writer.health.verdict {
            case .good: return true
            case .bad: return false
            case .unknown:
                try await writer.write(.starts) { connection throws(SQLError) in
                    try connection.run(Readiness.tryQuery)
                }
                return true
            }
        } catch { return false }
    }
}

private enum Readiness {
    static let lookQuery = SQLQuery("SELECT epoch FROM store_identity")
    /// Another number each time: SQLite writes no page whose content stays as it is.
    static let tryQuery = SQLQuery("UPDATE store_identity SET tries = tries + 1")

    @Sendable static func look(_ connection: borrowing SQLConnection) throws(SQLError) -> Bool {
        try connection.prepare(lookQuery).step()
    }
}
