// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeSQLite

/// The steps of a file's schema, in order.
package enum SQLiteMigrations {
    static let steps = [MigrationStep(version: 1, worksFrom: 1, script: PackageResources.v0001_consents_sql)]

    /// Reads the schema's version without making or changing the file.
    /// - Throws: `damaged` where a step was changed, `outOfReach`.
    package static func status(path: String, busyTimeout: Duration) throws(StoreFailure) -> MigrationStatus {
        try status(path: path, busyTimeout: busyTimeout, steps: steps)
    }

    /// Applies what is missing, in one transaction; makes the file where there is none.
    /// - Returns: the versions that were applied now.
    /// - Throws: `schemaIsNewer`; `damaged` where a step was changed; `retryLater`, `outOfReach`: nothing was applied.
    @discardableResult
    package static func apply(path: String, busyTimeout: Duration, at now: Instant) throws(StoreFailure) -> [Int] {
        try refuseOrphanedLog(of: path)
        try prepareFile(path)
        return try translated { () throws(SQLError) in
            try SQLConnection.forWriting(path, busyTimeout)
        }.migrate(steps, at: now)
    }

    static func status(path: String, busyTimeout: Duration, steps: [MigrationStep]) throws(StoreFailure)
        -> MigrationStatus
    {
        try refuseOrphanedLog(of: path)
        guard try identity(of: path) != nil else { return MigrationStatus(found: 0, known: steps.count) }
        let connection = try translated { () throws(SQLError) in try SQLConnection.forReading(path, busyTimeout) }
        return MigrationStatus(found: try connection.ownVersion(of: steps), known: steps.count)
    }
}
