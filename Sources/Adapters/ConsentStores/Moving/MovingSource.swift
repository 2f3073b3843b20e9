// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeSQLite
internal import NativeSystem

/// The file that is moved: opened to be read only, and all of it as it was at one moment.
struct MovingSource: ~Copyable {
    let connection: SQLConnection
    private let path: String
    private let stateDirectories: [String]
    /// Another number once somebody has written to the file (sqlite.org/pragma.html, `data_version`).
    private let version: Int64

    private init(
        _ connection: consuming SQLConnection, path: String, _ stateDirectories: [String], version: Int64
    ) {
        self.connection = connection
        self.path = path
        self.stateDirectories = stateDirectories
        self.version = version
    }

    /// - Parameter stateDirectories: where processes on the file may have their locks.
    static func open(path: String, stateDirectories: [String]) throws(MoveFailure) -> MovingSource {
        try refuseLivingProcess(on: path, stateDirectories)
        do throws(StoreFailure) {
            try mustBeReady(path)
            return try translated { () throws(SQLError) in
                let connection = try SQLConnection.forCopying(path, StoreLocation.busyTimeout)
                let version = try connection.dataVersion()
                try connection.execute("BEGIN")
                return MovingSource(connection, path: path, stateDirectories, version: version)
            }
        } catch { throw .source(error) }
    }

    private static func mustBeReady(_ path: String) throws(StoreFailure) {
        guard try identity(of: path) != nil else { throw .outOfReach("there is no file \(path)") }
        let status = try SQLiteMigrations.status(path: path, busyTimeout: StoreLocation.busyTimeout)
        guard status.found > 0 else { throw .outOfReach("nothing has been kept there yet") }
        try status.mustBeCurrent()
    }

    /// Which life of the file's store it is; empty where it never had one.
    func incarnation() throws(MoveFailure) -> [UInt8] {
        try read { connection throws(SQLError) in
            let row = try connection.prepare(MovingSourceQueries.incarnation)
            return try row.step() ? row.blob() : []
        }
    }

    func read<Value>(_ body: (borrowing SQLConnection) throws(SQLError) -> Value) throws(MoveFailure) -> Value {
        do throws(SQLError) { return try body(connection) } catch { throw .source(StoreFailure(error)) }
    }

    /// Ends the reading.
    /// - Returns: whether somebody has written meanwhile, or may be about to.
    func hasChanged() throws(MoveFailure) -> Bool {
        let isChanged = try read { connection throws(SQLError) in
            try connection.execute("COMMIT")
            return try connection.dataVersion() != version
        }
        // Last: to look at the index takes this connection's locks.
        try MovingSource.refuseLivingProcess(on: path, stateDirectories)
        return isChanged
    }

    private static func refuseLivingProcess(on path: String, _ stateDirectories: [String]) throws(MoveFailure) {
        for directory in stateDirectories {
            let folder = directory + "/instances"
            for name in (try? names(inDirectory: folder)) ?? [] where name.hasSuffix(".lock") {
                let state = try? FileLock.state(ofFileAt: "\(folder)/\(name)")
                // One that cannot be looked at is taken for held.
                if state == .held || state == nil { throw .sourceIsInUse(folder) }
            }
        }
        // One whose locks are in another folder has the file open all the same, however long it has been stopped.
        if let process = WriteAheadIndex(ofDatabaseAt: path).otherHolder { throw .sourceIsOpen(process: process) }
    }
}

extension SQLConnection {
    /// A connection on which the file cannot be changed, nor its write-ahead log be played into it.
    fileprivate static func forCopying(_ path: String, _ busyTimeout: Duration) throws(SQLError) -> SQLConnection {
        do throws(SQLiteError) {
            let connection = try SQLiteConnection(
                path: path, access: .readOnly, busyTimeout: Int32(clamping: busyTimeout.milliseconds))
            try connection.execute(
                "PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8192;")
            return .sqlite(connection)
        } catch { throw .sqlite(error) }
    }

    fileprivate func dataVersion() throws(SQLError) -> Int64 {
        let row = try prepare(MovingSourceQueries.version)
        return try row.step() ? row.integer() : 0
    }
}

private enum MovingSourceQueries {
    static let version = SQLQuery("PRAGMA data_version")
    static let incarnation = SQLQuery("SELECT incarnation FROM store_identity")
}
