// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeSystem

/// The steps of a server's schema, in order.
enum PostgresMigrations {
    static let steps = [
        MigrationStep(version: 1, worksFrom: 1, script: PackageResources.v0001_consents_postgres_sql)
    ]

    /// Reads the schema's version; changes nothing.
    static func status(of server: PostgresServer) throws(StoreFailure) -> MigrationStatus {
        let found = try connection(to: server).ownVersion(of: steps)
        return MigrationStatus(found: found, known: steps.count)
    }

    /// Applies what is missing, in one transaction.
    static func apply(to server: PostgresServer, at now: Instant) throws(StoreFailure) -> [Int] {
        try connection(to: server).migrate(steps, at: now)
    }

    private static func connection(to server: PostgresServer) throws(StoreFailure) -> SQLConnection {
        let clock = try bootClock()
        return try translated { () throws(SQLError) in
            .postgres(PostgresLink(try server.connectDirectly(), clock))
        }
    }
}
