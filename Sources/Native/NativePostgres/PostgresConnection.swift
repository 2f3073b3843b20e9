// SPDX-License-Identifier: Apache-2.0
internal import CPostgres

/// An open connection in pipeline mode, for the one thread that opened it. Its calls block, none without a word of the
/// server for longer than the settings' `answerTimeout`.
///
/// Inside a transaction a statement whose rows nobody reads is queued and not waited for; a read sends all that waits
/// and takes every answer up to its own, and so does the end of the transaction, with the one Sync of the batch. The
/// error of a queued statement is therefore thrown by the next read or by `commit`, and by every call after that until
/// `rollBack` or `takeBack`. Outside a transaction each statement is one by itself and is waited for.
@safe package struct PostgresConnection: ~Copyable {
    private let session: Session
    /// What the server told of itself.
    package let facts: PostgresFacts
    /// For other threads.
    package let interrupter: PostgresInterrupter

    /// Connects, and makes sure of the session's settings: time-outs, UTC, `synchronous_commit` no weaker than `on`.
    /// - Throws: `.settings`, `.unreachable`, `.notAdmitted`, `.tooManyConnections`, `.shuttingDown`, `.lost`.
    package init(_ settings: PostgresSettings) throws(PostgresError) {
        let session = try Session(settings)
        if !settings.isPooled { _ = try session.ask(SessionQueries.settings, settings.values(isLocal: false)) }
        let facts = try session.facts()
        self.session = session
        self.facts = facts
        interrupter = unsafe PostgresInterrupter(session.handle)
    }

    /// The statement, to be bound and stepped through.
    @inline(never) package func prepare(_ query: PostgresQuery) -> PostgresStatement {
        PostgresStatement(query, session)
    }

    /// Runs a statement that answers no row. Inside a transaction it is queued.
    package func run(_ query: PostgresQuery, _ values: any PostgresBindable...) throws(PostgresError) {
        try run(query, values)
    }

    package func run(_ query: PostgresQuery, _ values: [any PostgresBindable]) throws(PostgresError) {
        if session.isInTransaction {
            try session.send(query, values, as: .statement)
        } else {
            _ = try session.ask(query, values)
        }
    }

    /// Runs a statement and waits for it.
    /// - Returns: how many rows it changed.
    package func change(_ query: PostgresQuery, _ values: any PostgresBindable...) throws(PostgresError) -> Int {
        try change(query, values)
    }

    package func change(_ query: PostgresQuery, _ values: [any PostgresBindable]) throws(PostgresError) -> Int {
        try session.ask(query, values).changes
    }

    /// Runs a script of any number of statements, which takes no parameters. Behind a pooler, too, all of it is one
    /// transaction, unless it is inside of one.
    package func execute(_ script: String) throws(PostgresError) { try session.run(script: script) }

    /// False inside a transaction, also one that an error has not yet ended; true where the connection is lost, which
    /// has ended it.
    package var isOutsideTransaction: Bool { session.isLost || !session.isInTransaction }

    /// Not lost: another use may be tried.
    package var isUsable: Bool { !session.isLost }

    /// The server process that serves this connection; with a pooler between, the pooler's word for it.
    package var serverProcess: Int32 { unsafe PQbackendPID(session.handle) }

    // MARK: Transactions

    /// Begins a transaction; queued. It reads what was committed before each of its statements.
    package func begin() throws(PostgresError) { try session.begin(SessionQueries.begin) }

    /// Begins a transaction that only reads, all of it as it was at its first statement; queued.
    package func beginReading() throws(PostgresError) { try session.begin(SessionQueries.beginReading) }

    /// Commits, and waits for all that is queued.
    /// - Throws: what a statement of it failed with, and then the transaction is still to be rolled back; or
    ///   `.commitUnknown`.
    package func commit() throws(PostgresError) { try session.commit() }

    /// Takes the transaction back. Never fails: what cannot be sent is taken back by the loss of the connection.
    package func rollBack() { session.rollBack() }

    /// Sets a mark inside the transaction, one at a time; queued.
    package func mark() throws(PostgresError) { try session.send(SessionQueries.mark, [], as: .statement) }

    /// Forgets the mark, once all that is queued has been done.
    /// - Throws: what a statement since the mark failed with.
    package func release() throws(PostgresError) { _ = try session.ask(SessionQueries.release, []) }

    /// Takes back what was done since the mark, and forgets it. Whatever failed since then is forgotten.
    package func takeBack() throws(PostgresError) {
        session.settle()
        try session.send(SessionQueries.takeBack, [], as: .statement)
        _ = try session.ask(SessionQueries.release, [])
    }

    /// Locks that this connection holds for as long as it lives.
    package var locks: PostgresLocks { PostgresLocks(session) }
}

extension Session {
    func facts() throws(PostgresError) -> PostgresFacts {
        let rows = try ask(SessionQueries.facts, [])
        guard rows.count == 1 else { throw PostgresError.corrupt }
        let process = Int32(truncatingIfNeeded: rows.integer(0, 4))
        return unsafe PostgresFacts(
            version: Int(rows.integer(0, 0)), isInRecovery: rows.integer(0, 1) != 0,
            isDurable: rows.integer(0, 2) != 0,
            isEncrypted: PQsslInUse(handle) == 1, encoding: String(decoding: rows.bytes(0, 3), as: UTF8.self),
            process: process, isBehindPooler: process != PQbackendPID(handle))
    }

    /// Sends a statement and waits for its rows; outside a transaction it is committed.
    func ask(_ query: PostgresQuery, _ values: [any PostgresBindable]) throws(PostgresError) -> Rows {
        let isAlone = !isInTransaction
        let isWrapped = isAlone && settings.isPooled
        defer { if isAlone { endAlone() } }
        if isWrapped { try begin(SessionQueries.begin) }
        try send(query, values, as: .wanted)
        if isWrapped { try send(SessionQueries.commit, [], as: .commit) }
        guard let rows = try isAlone ? synchronize() : takeAnswers() else { throw lose("no answer") }
        return rows
    }

    /// A failed statement that was a transaction of its own leaves nothing behind.
    private func endAlone() {
        if isInTransaction { rollBack() } else { settle() }
    }

    func begin(_ query: PostgresQuery) throws(PostgresError) {
        precondition(!isInTransaction, "a transaction is begun inside of one")
        try send(query, [], as: .statement)
        isInTransaction = true
        if settings.isPooled { try send(SessionQueries.settings, settings.values(isLocal: true), as: .statement) }
    }

    func commit() throws(PostgresError) {
        if !isLost { try makeSureItStands() }
        try send(SessionQueries.commit, [], as: .commit)
        _ = try synchronize()
    }

    func rollBack() {
        settle()
        guard !isLost, isInTransaction else { return }
        do throws(PostgresError) {
            try send(SessionQueries.rollBack, [], as: .statement)
            _ = try synchronize()
        } catch { settle() }
    }
}
