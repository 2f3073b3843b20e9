// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeSQLite

/// Who brings the schema up to date.
package enum MigrationMode: Sendable {
    /// Opening the store does.
    case automatic
    /// Only `migrate` does; opening an older store fails.
    case manual
}

/// Which schema a store has, and which this program knows.
package struct MigrationStatus: Sendable, Equatable {
    /// 0 where there is no store, or nothing of ours in it. A newer one that works with this program too, as its steps
    /// say, counts as the one that is known.
    package var found: Int
    package var known: Int

    package init(found: Int, known: Int) {
        self.found = found
        self.known = known
    }

    package var pending: Int { max(0, known - found) }

    /// - Throws: `schemaIsNewer`, `schemaIsOlder`.
    func mustBeCurrent() throws(StoreFailure) {
        if found > known { throw .schemaIsNewer(found: found, known: known) }
        if found < known { throw .schemaIsOlder(found: found, known: known) }
    }
}

/// A step of the way from an empty store to the schema that this program knows. One that was applied once is never
/// changed: its checksum is kept, and another one is an error.
struct MigrationStep: Sendable {
    let version: Int
    /// The oldest schema whose programs work with the store after this step: while instances are replaced one after the
    /// other, one of the release before may begin as well.
    let worksFrom: Int
    let script: [UInt8]

    /// FNV-1a, 64 bits: it finds a slip of the hand, and guards against nobody.
    var checksum: String {
        let hash = script.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return Hexadecimal.text(of: (0..<8).map { UInt8(truncatingIfNeeded: hash >> (56 - 8 * $0)) })
    }
}

extension SQLConnection {
    /// Brings the schema up to date, one process at a time.
    /// - Returns: the versions that were applied now.
    func migrate(_ steps: [MigrationStep], at now: Instant) throws(StoreFailure) -> [Int] {
        try translated { () throws(SQLError) in try beginMigration() }
        do throws(StoreFailure) {
            let found = try ownVersion(of: steps)
            guard found <= steps.count else { throw StoreFailure.schemaIsNewer(found: found, known: steps.count) }
            let missing = steps[found...]
            try translated { () throws(SQLError) in
                if found == 0 { try execute(makeTable) }
                for step in missing { try apply(step, at: now) }
                try execute("COMMIT")
            }
            return missing.map(\.version)
        } catch {
            // The error has already been told; rolling back what was rolled back already fails harmlessly.
            try? execute("ROLLBACK")
            throw error
        }
    }

    /// The newest version applied; 0 for an empty store.
    /// - Throws: `damaged` where it is another program's.
    func ownVersion(of steps: [MigrationStep]) throws(StoreFailure) -> Int {
        let found = try verifiedVersion(of: steps)
        let isEmpty = try translated { () throws(SQLError) in try !hasTables() }
        guard found > 0 || isEmpty else { throw .damaged("the \(noun) is another program's database") }
        return found
    }

    private var noun: String {
        switch self {
        case .sqlite: "file"
        case .postgres: "schema"
        }
    }

    /// Of several processes the first goes on, and the others wait.
    private func beginMigration() throws(SQLError) {
        switch self {
        case .sqlite: try execute("BEGIN IMMEDIATE")
        case .postgres: try execute("BEGIN; SELECT pg_advisory_xact_lock(\(LinkQueries.lockKind), 2)")
        }
    }

    private var makeTable: String {
        switch self {
        case .sqlite:
            """
            CREATE TABLE schema_migrations (
                version INTEGER NOT NULL PRIMARY KEY, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL,
                works_from INTEGER NOT NULL
            ) STRICT
            """
        case .postgres:
            """
            CREATE TABLE schema_migrations (
                version bigint NOT NULL PRIMARY KEY, checksum text NOT NULL, applied_at bigint NOT NULL,
                works_from bigint NOT NULL
            )
            """
        }
    }

    private func hasTables() throws(SQLError) -> Bool { try prepare(MigrationQueries.anyTable).step() }

    private func apply(_ step: MigrationStep, at now: Instant) throws(SQLError) {
        try execute(String(decoding: step.script, as: UTF8.self))
        try run(MigrationQueries.insert, step.version, step.checksum, now.milliseconds, step.worksFrom)
    }

    /// The newest version applied, every known one with the checksum that it had.
    private func verifiedVersion(of steps: [MigrationStep]) throws(StoreFailure) -> Int {
        let applied = try translated { () throws(SQLError) in try appliedSteps() }
        for (position, step) in applied.enumerated() {
            guard step.version == position + 1 else { throw .damaged("migration \(position + 1) is missing") }
            guard position >= steps.count || steps[position].checksum == step.checksum else {
                throw .damaged("migration \(step.version) is not the one that was applied")
            }
        }
        let later = applied.dropFirst(steps.count)
        return later.allSatisfy { $0.worksFrom <= steps.count } ? min(applied.count, steps.count) : applied.count
    }

    private func appliedSteps() throws(SQLError) -> [(version: Int, checksum: String, worksFrom: Int)] {
        let exists = try prepare(MigrationQueries.tableExists)
        guard try exists.step() else { return [] }
        var applied: [(version: Int, checksum: String, worksFrom: Int)] = []
        let rows = try prepare(MigrationQueries.select)
        while try rows.step() { applied.append((Int(rows.integer()), rows.text(), Int(rows.integer()))) }
        return applied
    }
}

private enum MigrationQueries {
    static let tableExists = SQLQuery(
        sqlite: "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_migrations'",
        postgres: """
            SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'schema_migrations'
            """)
    /// In a server's schema there may be an extension's views; a table is somebody's data.
    static let anyTable = SQLQuery(
        sqlite: "SELECT 1 FROM sqlite_schema LIMIT 1",
        postgres: "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() LIMIT 1")
    static let select = SQLQuery("SELECT version, checksum, works_from FROM schema_migrations ORDER BY version")
    static let insert = SQLQuery(
        "INSERT INTO schema_migrations (version, checksum, applied_at, works_from) VALUES (?, ?, ?, ?)")
}
