// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeSQLite
internal import NativeSystem

/// Makes the database's folder (0700) and the empty file (0600), whose mode SQLite gives to WAL and index too.
func prepareFile(_ path: String) throws(StoreFailure) {
    do {
        if let slash = path.lastIndex(of: "/") { try makePrivateDirectory(at: String(path[..<slash])) }
        try makePrivateFile(at: path)
    } catch { throw .outOfReach("the file cannot be made: \(error)") }
}

/// A write-ahead log without its database holds commits of a store that was lost or moved: an empty database made beside
/// it would let SQLite throw them away.
func refuseOrphanedLog(of path: String) throws(StoreFailure) {
    guard try identity(of: path + "-wal") != nil else { return }
    guard try identity(of: path) == nil else { return try refuseForeignLog(of: path) }
    throw .outOfReach("the database is gone, but its write-ahead log is there: put it back, or move the log away")
}

func identity(of path: String) throws(StoreFailure) -> FileIdentity? {
    do { return try FileIdentity.ofFile(at: path) } catch { throw .outOfReach("\(error)") }
}

/// A connection that writes: every commit is synced (`FULL`), and what is deleted is overwritten with zeros in the
/// file, so that a destroyed envelope is gone; the WAL forgets it at the next checkpoint that starts it over.
///
/// A checkpoint every 16 MiB: digests fall on pages all over the file, and one that was changed often is copied once.
/// A cache of 8 MiB: where balancing a tree has renumbered pages, SQLite goes through its whole cache at the commit (3.40,
/// `pcache1Truncate`). With 32 MiB an exchange's CPU was 5 µs more in batches of sixty writes, 15 µs in batches of
/// eighteen; with 2 MiB, reading pages again costs what it saves.
func openForWriting(_ path: String, _ busyTimeout: Duration) throws(SQLiteError) -> SQLiteConnection {
    let connection = try SQLiteConnection(
        path: path, access: .readWrite, busyTimeout: Int32(clamping: busyTimeout.milliseconds))
    try connection.execute(
        """
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = FULL;
        PRAGMA foreign_keys = ON;
        PRAGMA secure_delete = ON;
        PRAGMA trusted_schema = OFF;
        PRAGMA temp_store = MEMORY;
        PRAGMA cache_size = -8192;
        PRAGMA wal_autocheckpoint = 4000;
        PRAGMA journal_size_limit = 33554432;
        """)
    return connection
}

/// A connection that cannot write.
func openForReading(_ path: String, _ busyTimeout: Duration) throws(SQLiteError) -> SQLiteConnection {
    let connection = try SQLiteConnection(
        path: path, access: .readWrite, busyTimeout: Int32(clamping: busyTimeout.milliseconds))
    try connection.execute(
        "PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8192;")
    return connection
}

extension SQLConnection {
    static func forWriting(_ path: String, _ busyTimeout: Duration) throws(SQLError) -> SQLConnection {
        do throws(SQLiteError) { return .sqlite(try openForWriting(path, busyTimeout)) } catch { throw .sqlite(error) }
    }

    static func forReading(_ path: String, _ busyTimeout: Duration) throws(SQLError) -> SQLConnection {
        do throws(SQLiteError) { return .sqlite(try openForReading(path, busyTimeout)) } catch { throw .sqlite(error) }
    }
}
