// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativePostgres
internal import NativeSystem

/// A connection to the server, with what is known through it of the server's clock and of the instances that live.
///
/// A class, so that a connection of either kind is no larger than a file's: it is handed on at each statement.
final class PostgresLink {
    let connection: PostgresConnection
    let clock: ServerClock
    let living: LivingInstances
    let seen = SeenInTransaction()

    convenience init(_ server: PostgresServer, _ clock: BootClock) throws(SQLError) {
        self.init(try server.connect(), clock)
    }

    init(_ connection: consuming PostgresConnection, _ clock: BootClock) {
        self.connection = connection
        self.clock = ServerClock(clock)
        living = LivingInstances()
    }

    /// Begins a transaction that writes. Whoever begins a checkpoint waits for it: an event is in the period that its
    /// transaction has seen, and must be there when the period is signed.
    func begin() throws(PostgresError) {
        living.forget()
        seen.forget()
        try connection.begin()
        try connection.run(LinkQueries.shareWriting)
    }

    /// Milliseconds of the server's clock.
    func milliseconds() throws(SQLError) -> Int64 {
        do throws(PostgresError) { return try clock.milliseconds(connection) } catch { throw .postgres(error) }
    }
}

extension SQLConnection {
    /// Returns once every transaction that writes now has ended; those that begin later wait for this one, and see what
    /// it has written.
    @inline(never) func awaitOtherWriters() throws(SQLError) {
        switch self {
        case .sqlite: break
        case .postgres(let link):
            do throws(PostgresError) { try link.connection.run(LinkQueries.awaitWriters) } catch {
                throw .postgres(error)
            }
        }
    }

    /// Until the transaction ends no other one gets past this with the same person.
    @inline(never) func holdPerson(_ person: BlindIndex) throws(SQLError) {
        switch self {
        // One transaction at a time.
        case .sqlite: break
        case .postgres(let link):
            // Two persons with the same bits wait for each other in vain, and no worse.
            let bits = person.bytes.prefix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
            do throws(PostgresError) {
                try link.connection.run(LinkQueries.holdPerson, Int64(bitPattern: bits))
            } catch { throw .postgres(error) }
        }
    }

    /// False once a server's connection is lost.
    @inline(never) var isUsable: Bool {
        switch self {
        case .sqlite: true
        case .postgres(let link): link.connection.isUsable
        }
    }

    /// Another read begins: what was known of who lives is asked again.
    @inline(never) func beginRead() {
        switch self {
        case .sqlite: break
        case .postgres(let link):
            link.living.forget()
            link.seen.forget()
        }
    }

    /// One transaction with a server: begun, run and committed with one Sync; taken back where anything fails.
    /// - Returns: why it was taken back, or its fate is unknown.
    @inline(never) func transaction(_ body: (borrowing SQLConnection) throws(SQLError) -> Void) -> SQLError? {
        do throws(SQLError) {
            try beginWriting()
            try body(self)
            try endTransaction()
            return nil
        } catch {
            takeBack()
            return error
        }
    }

    @inline(never) private func beginWriting() throws(SQLError) {
        switch self {
        case .sqlite: try execute("BEGIN IMMEDIATE")
        case .postgres(let link):
            do throws(PostgresError) { try link.begin() } catch { throw .postgres(error) }
        }
    }

    /// What `body` reads, all of it as it is at one moment.
    @inline(never) func snapshot<Value>(_ body: (borrowing SQLConnection) throws(SQLError) -> Value) throws(SQLError)
        -> Value
    {
        try beginSnapshot()
        do throws(SQLError) {
            let value = try body(self)
            try endTransaction()
            return value
        } catch {
            takeBack()
            throw error
        }
    }

    @inline(never) private func beginSnapshot() throws(SQLError) {
        switch self {
        case .sqlite: try run(LinkQueries.begin)
        case .postgres(let link):
            do throws(PostgresError) { try link.connection.beginReading() } catch { throw .postgres(error) }
        }
    }

    @inline(never) private func endTransaction() throws(SQLError) {
        switch self {
        case .sqlite: try run(LinkQueries.end)
        case .postgres(let link):
            do throws(PostgresError) { try link.connection.commit() } catch { throw .postgres(error) }
        }
    }

    @inline(never) private func takeBack() {
        switch self {
        case .sqlite: if !isOutsideTransaction { try? execute("ROLLBACK") }
        case .postgres(let link): link.connection.rollBack()
        }
    }
}

/// The server's clock, asked for once a second and counted on by this machine's in between.
///
/// By the boot clock, which goes on while the machine sleeps: a lease judged by a time that lags behind would stand too
/// long, and one given by it would end too early.
final class ServerClock {
    private static let goodFor: Int64 = 1000
    private static let quick: Int64 = 250

    private let own: BootClock
    private var askedAt: Int64?
    private var difference: Int64 = 0

    init(_ own: BootClock) { self.own = own }

    func milliseconds(_ connection: borrowing PostgresConnection) throws(PostgresError) -> Int64 {
        let now = own.milliseconds
        if let askedAt, now - askedAt < ServerClock.goodFor { return now + difference }
        let row = connection.prepare(LinkQueries.clock)
        guard try row.step() else { throw .corrupt }
        let told = row.integer()
        // What was sent ahead is done first, and may wait for others: then it is not known when the clock was read.
        guard own.milliseconds - now < ServerClock.quick else {
            askedAt = nil
            return told
        }
        difference = told - now
        askedAt = now
        return told
    }
}

enum LinkQueries {
    /// The first key of all advisory locks of this program: "CG".
    static let lockKind: Int32 = 0x4347
    /// `clock_timestamp()` goes on within a transaction.
    static let now = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
    static let clock = PostgresQuery("SELECT \(now)")
    static let shareWriting = PostgresQuery("SELECT pg_advisory_xact_lock_shared(\(lockKind), 1)")
    static let awaitWriters = PostgresQuery("SELECT pg_advisory_xact_lock(\(lockKind), 1)")
    /// Locks of one key are apart from those of two.
    static let holdPerson = PostgresQuery("SELECT pg_advisory_xact_lock($1)")
    static let begin = SQLQuery("BEGIN")
    static let end = SQLQuery("COMMIT")
}
