// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativePostgres

/// The server's tables that a file is moved into. While a move is not over its row says so, and no instance opens them.
struct MovingTarget: ~Copyable {
    let connection: SQLConnection

    private init(_ connection: consuming SQLConnection) { self.connection = connection }

    /// Connects, and keeps other moves away for as long as it lives.
    static func open(_ server: PostgresServer) throws(MoveFailure) -> MovingTarget {
        let target: MovingTarget
        do throws(StoreFailure) {
            try PostgresMigrations.status(of: server).mustBeCurrent()
            let clock = try bootClock()
            target = try translated { () throws(SQLError) in
                MovingTarget(.postgres(PostgresLink(try server.connectDirectly(), clock)))
            }
        } catch { throw .target(error) }
        guard try target.isLocked() else { throw .underWay }
        return target
    }

    /// Of two moves at once one goes on.
    private func isLocked() throws(MoveFailure) -> Bool {
        try ask { connection throws(SQLError) in
            let row = try connection.prepare(MovingTargetQueries.lock)
            return try row.step() && row.integer() != 0
        }
    }

    enum Standing { case new, begun, over(Instant) }

    /// Where the move of that file stands; a new one is begun.
    /// - Parameter source: the file's incarnation.
    func begin(of source: [UInt8], _ tables: [MovedTable], at now: Instant) throws(MoveFailure) -> Standing {
        if let (known, end) = try mark() {
            guard known == source else { throw .targetIsOfAnother }
            return end.map { .over($0) } ?? .begun
        }
        try mustBeEmpty(tables)
        let isAlone = try write { connection throws(SQLError) in
            // An instance writes its row first and looks for a move then.
            try connection.execute("LOCK TABLE instances IN EXCLUSIVE MODE")
            if try connection.prepare(MovingTargetQueries.living).step() { return false }
            try connection.run(MovingTargetQueries.begin, source, now)
            return true
        }
        guard isAlone else { throw .targetIsInUse }
        return .new
    }

    private func mark() throws(MoveFailure) -> (source: [UInt8], end: Instant?)? {
        try ask { connection throws(SQLError) in
            let row = try connection.prepare(MovingTargetQueries.mark)
            return try row.step() ? (row.blob(), row.optionalInstant()) : nil
        }
    }

    /// - Throws: `targetIsNotEmpty`, also where a store has begun to live in it.
    private func mustBeEmpty(_ tables: [MovedTable]) throws(MoveFailure) {
        for table in tables {
            let isEmpty = try ask { connection throws(SQLError) in
                table.isIdentity
                    ? try !connection.prepare(MovingTargetQueries.life).step()
                    : try table.page(after: nil, limit: 1, in: connection).isEmpty
            }
            if !isEmpty { throw .targetIsNotEmpty(table: table.name) }
        }
    }

    /// The last key that was copied; nil where none was.
    func lastKey(of table: MovedTable) throws(MoveFailure) -> [SQLValue]? {
        try ask { connection throws(SQLError) in
            let row = try connection.prepare(table.lastKey)
            return try row.step() ? table.keyColumns.map { row.value($0.kind) } : nil
        }
    }

    /// All of them, or none.
    func insert(_ rows: [[SQLValue]], into table: MovedTable) throws(MoveFailure) {
        try write { connection throws(SQLError) in
            for row in rows { try connection.run(table.insert, all: row.map(CopiedValue.init)) }
        }
    }

    /// The store's life goes on here.
    func finish(_ identity: MovedTable, _ rows: [[SQLValue]], at now: Instant) throws(MoveFailure) {
        try write { connection throws(SQLError) in
            try connection.run(MovingTargetQueries.noLife)
            for row in rows { try connection.run(identity.insert, all: row.map(CopiedValue.init)) }
            try connection.run(MovingTargetQueries.finish, now)
        }
    }

    /// Tells the server's planner how many rows there are; it finds out by itself later.
    func analyze(_ tables: [MovedTable]) {
        _ = try? connection.execute("ANALYZE " + tables.map(\.name).joined(separator: ", "))
    }

    func ask<Value>(_ body: (borrowing SQLConnection) throws(SQLError) -> Value) throws(MoveFailure) -> Value {
        do throws(SQLError) { return try body(connection) } catch { throw .target(StoreFailure(error)) }
    }

    private func write<Value>(_ body: (borrowing SQLConnection) throws(SQLError) -> Value) throws(MoveFailure) -> Value
    {
        var value: Value?
        let error = connection.transaction { connection throws(SQLError) in value = try body(connection) }
        if let error { throw .target(StoreFailure(error)) }
        guard let value else { throw .target(StoreFailure(SQLError.corrupt)) }
        return value
    }
}

extension MovedTable {
    /// The one row that is there from the beginning.
    var isIdentity: Bool { name == "store_identity" }
}

extension SQLConnection {
    /// - Throws: where a file is being moved into the tables.
    static func refuseUnfinishedMove(_ connection: borrowing PostgresConnection) throws(PostgresError) {
        guard try connection.prepare(MovingTargetQueries.unfinished).step() else { return }
        throw PostgresError(
            .readOnly, detail: "consents are being moved into it: run `consent-gateway migrate --from` to its end")
    }
}

private enum MovingTargetQueries {
    static let lock = SQLQuery("SELECT pg_try_advisory_lock(\(LinkQueries.lockKind), 3)")
    static let mark = SQLQuery("SELECT source, finished_at FROM store_move")
    static let unfinished = PostgresQuery("SELECT 1 FROM store_move WHERE finished_at IS NULL")
    static let begin = SQLQuery("INSERT INTO store_move (\"only\", source, begun_at) VALUES (1, ?, ?)")
    static let finish = SQLQuery("UPDATE store_move SET finished_at = ?")
    static let life = SQLQuery("SELECT 1 FROM store_identity WHERE incarnation IS NOT NULL")
    static let noLife = SQLQuery("DELETE FROM store_identity")
    static let living = SQLQuery(
        "SELECT 1 FROM instances WHERE left_at IS NULL AND seen_at > \(LinkQueries.now) - \(PostgresPresence.grace)")
}
