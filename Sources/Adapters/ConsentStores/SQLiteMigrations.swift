// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeSQLite
internal import NativeSystem

/// Who brings the schema up to date.
package enum MigrationMode: Sendable {
    /// Opening the store does.
    case automatic
    /// Only `migrate` does; opening an older store fails.
    case manual
}

/// Which schema a file has, and which this program knows.
package struct MigrationStatus: Sendable, Equatable {
    /// 0 where there is no file, or nothing of ours in it.
    package var found: Int
    package var known: Int

    package init(found: Int, known: Int) {
        self.found = found
        self.known = known
    }

    package var pending: Int { max(0, known - found) }
}

/// The steps from an empty file to the schema that this program knows, in order. A step that was applied once is
/// never changed: its checksum is kept, and another one is an error.
package enum SQLiteMigrations {
    struct Step: Sendable {
        let version: Int
        let script: [UInt8]

        /// FNV-1a, 64 bits: it finds a slip of the hand, and guards against nobody.
        var checksum: String {
            let hash = script.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
            return Hexadecimal.text(of: (0..<8).map { UInt8(truncatingIfNeeded: hash >> (56 - 8 * $0)) })
        }
    }

    static let steps = [Step(version: 1, script: PackageResources.v0001_consents_sql)]

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
        return try translated { () throws(SQLiteError) in
            try openForWriting(path, busyTimeout)
        }.migrate(steps, at: now)
    }

    static func status(path: String, busyTimeout: Duration, steps: [Step]) throws(StoreFailure) -> MigrationStatus {
        try refuseOrphanedLog(of: path)
        guard try identity(of: path) != nil else { return MigrationStatus(found: 0, known: steps.count) }
        let connection = try translated { () throws(SQLiteError) in try openForReading(path, busyTimeout) }
        return MigrationStatus(found: try connection.ownVersion(of: steps), known: steps.count)
    }
}

extension SQLiteConnection {
    /// Brings the schema up to date, one process at a time.
    func migrate(_ steps: [SQLiteMigrations.Step], at now: Instant) throws(StoreFailure) -> [Int] {
        try translated { () throws(SQLiteError) in try execute("BEGIN IMMEDIATE") }
        do throws(StoreFailure) {
            let found = try ownVersion(of: steps)
            guard found <= steps.count else { throw StoreFailure.schemaIsNewer(found: found, known: steps.count) }
            let missing = steps[found...]
            try translated { () throws(SQLiteError) in
                if found == 0 { try execute(MigrationQueries.makeTable) }
                for step in missing { try apply(step, at: now) }
                try execute("COMMIT")
            }
            return missing.map(\.version)
        } catch {
            // The error has already been told; rolling back what SQLite rolled back itself fails harmlessly.
            try? execute("ROLLBACK")
            throw error
        }
    }

    /// The newest version applied; 0 for an empty file.
    /// - Throws: `damaged` where the file is another program's.
    func ownVersion(of steps: [SQLiteMigrations.Step]) throws(StoreFailure) -> Int {
        let found = try verifiedVersion(of: steps)
        let isEmpty = try translated { () throws(SQLiteError) in try !hasTables() }
        guard found > 0 || isEmpty else { throw .damaged("the file is another program's database") }
        return found
    }

    private func hasTables() throws(SQLiteError) -> Bool { try prepare(MigrationQueries.anyTable).step() }

    private func apply(_ step: SQLiteMigrations.Step, at now: Instant) throws(SQLiteError) {
        try execute(String(decoding: step.script, as: UTF8.self))
        try run(MigrationQueries.insert, step.version, step.checksum, now.milliseconds)
    }

    /// The newest version applied, every known one with the checksum that it had.
    func verifiedVersion(of steps: [SQLiteMigrations.Step]) throws(StoreFailure) -> Int {
        let applied = try translated { () throws(SQLiteError) in try appliedSteps() }
        for (position, step) in applied.enumerated() {
            guard step.version == position + 1 else { throw .damaged("migration \(position + 1) is missing") }
            guard position >= steps.count || steps[position].checksum == step.checksum else {
                throw .damaged("migration \(step.version) is not the one that was applied")
            }
        }
        return applied.count
    }

    private func appliedSteps() throws(SQLiteError) -> [(version: Int, checksum: String)] {
        let exists = try prepare(MigrationQueries.tableExists)
        guard try exists.step() else { return [] }
        var applied: [(version: Int, checksum: String)] = []
        let rows = try prepare(MigrationQueries.select)
        while try rows.step() { applied.append((Int(rows.integer()), rows.text())) }
        return applied
    }
}

private enum MigrationQueries {
    static let makeTable = """
        CREATE TABLE schema_migrations (
            version INTEGER NOT NULL PRIMARY KEY, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL
        ) STRICT
        """
    static let tableExists = SQLiteQuery(
        "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_migrations'")
    static let anyTable = SQLiteQuery("SELECT 1 FROM sqlite_schema LIMIT 1")
    static let select = SQLiteQuery("SELECT version, checksum FROM schema_migrations ORDER BY version")
    static let insert = SQLiteQuery("INSERT INTO schema_migrations (version, checksum, applied_at) VALUES (?, ?, ?)")
}
