// SPDX-License-Identifier: Apache-2.0
/// A lock that the server keeps for whoever holds it, until the connection ends.
package struct PostgresLock: Sendable, Hashable {
    /// What the lock is about.
    package let kind: Int32
    package let id: Int32

    package init(kind: Int32, id: Int32) {
        self.kind = kind
        self.id = id
    }
}

/// Advisory locks of a session (postgresql.org/docs/15/explicit-locking.html#ADVISORY-LOCKS). Behind a pooler they
/// belong to whichever connection the pooler lent: the connection that takes them has to be a direct one; whether
/// somebody holds one can be asked on any.
@safe package struct PostgresLocks: ~Copyable {
    private let session: Session

    @inline(never) init(_ session: Session) { self.session = session }

    /// Takes the lock where it is free; waits for nobody.
    package func take(_ lock: PostgresLock) throws(PostgresError) -> Bool {
        try ask(LockQueries.take, lock)
    }

    /// Gives it back.
    /// - Returns: false where this connection did not hold it.
    @discardableResult
    package func giveBack(_ lock: PostgresLock) throws(PostgresError) -> Bool {
        try ask(LockQueries.giveBack, lock)
    }

    /// Somebody holds it, this connection or another one of this database.
    package func isHeld(_ lock: PostgresLock) throws(PostgresError) -> Bool {
        try ask(LockQueries.isHeld, lock)
    }

    /// This connection holds it: also a sign that the connection still stands.
    package func isOurs(_ lock: PostgresLock) throws(PostgresError) -> Bool {
        try ask(LockQueries.isOurs, lock)
    }

    private func ask(_ query: PostgresQuery, _ lock: PostgresLock) throws(PostgresError) -> Bool {
        let rows = try session.ask(query, [Int64(lock.kind), Int64(lock.id)])
        return rows.count == 1 && rows.integer(0, 0) != 0
    }
}

private enum LockQueries {
    static let take = PostgresQuery("SELECT pg_try_advisory_lock($1::integer, $2::integer)")
    static let giveBack = PostgresQuery("SELECT pg_advisory_unlock($1::integer, $2::integer)")
    // `objsubid` 2 is a lock by two keys; `oid` has no sign.
    private static let held = """
        SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2
            AND classid = ($1 & 4294967295)::oid AND objid = ($2 & 4294967295)::oid
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        """
    static let isHeld = PostgresQuery(held + ")")
    static let isOurs = PostgresQuery(held + " AND pid = pg_backend_pid())")
}
