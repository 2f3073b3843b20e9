// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeSystem

/// Where consents are kept.
package enum StoreLocation: Sendable {
    /// A SQLite file at that path.
    case file(String)
    case server(PostgresServer)

    /// For whoever has to be told of it; without a password.
    package var shown: String {
        switch self {
        case .file(let path): path
        case .server(let server): server.shown
        }
    }

    /// How long a lock of another process is waited for by who looks in from outside.
    static let busyTimeout = StoreLimits.standard.busyTimeout

    /// Reads the schema's version; makes and changes nothing. Blocks until done.
    /// - Throws: `damaged` where a step was changed, `retryLater`, `outOfReach`.
    package func migrationStatus() throws(StoreFailure) -> MigrationStatus {
        switch self {
        case .file(let path): try SQLiteMigrations.status(path: path, busyTimeout: StoreLocation.busyTimeout)
        case .server(let server): try PostgresMigrations.status(of: server)
        }
    }

    /// Applies what is missing, in one transaction; makes the file where there is none. Blocks until done.
    /// - Returns: the versions that were applied now.
    /// - Throws: `schemaIsNewer`; `damaged` where a step was changed; `retryLater`, `outOfReach`: nothing was applied.
    @discardableResult
    package func migrate(at now: Instant) throws(StoreFailure) -> [Int] {
        switch self {
        case .file(let path):
            try SQLiteMigrations.apply(path: path, busyTimeout: StoreLocation.busyTimeout, at: now)
        case .server(let server): try PostgresMigrations.apply(to: server, at: now)
        }
    }

    /// A connection of one's own, to look in and to change nothing.
    func connectionForReading(_ clock: BootClock) throws(SQLError) -> SQLConnection {
        switch self {
        case .file(let path): return try .forReading(path, StoreLocation.busyTimeout)
        case .server(let server):
            return try .postgres(PostgresLink(server, clock))
        }
    }
}
