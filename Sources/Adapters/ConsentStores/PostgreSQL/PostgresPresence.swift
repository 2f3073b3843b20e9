// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativePostgres
internal import NativeSystem

/// Tells the other instances that this one lives: a lock of a session of its own, which the server drops with the
/// connection, and a row that says when it was seen last.
///
/// A lock that is free does not tell a dead owner from one whose connection was lost, and whose answer may still come. So
/// a death is believed only where the row is older than ``grace`` as well, and by nobody who has not held a lock of its
/// own for as long: after a restart of the server everybody has that long to come back. A lease ends with its time in
/// any case. Who leaves in good order says so, and is believed at once.
final class PostgresPresence: Sendable {
    /// How long an instance may be out of reach before it counts as dead, milliseconds; its row is written three times in
    /// it.
    static let grace: Int64 = 10_000
    private static let beat = Duration.seconds(3)
    /// How long a beat proves that this instance lives, milliseconds: short enough that nobody takes it for dead before.
    private static let proof: Int64 = 8_000

    let instance: InstanceID
    private let clock: BootClock
    /// When this instance's lock was taken, by the boot clock; nil while it has none.
    private let heldSince = Locked<Int64?>(nil)
    /// When the last beat that got through was begun, likewise.
    private let confirmedAt = Locked<Int64?>(nil)
    private let end = BlockingQueue<Never>()
    private let thread = Locked<NamedThread?>(nil)

    /// Takes the lock; then keeps it, on a thread of its own.
    /// - Parameter told: the server's clock is read at each beat.
    init(
        _ server: PostgresServer, instance: InstanceID, clock: BootClock, telling told: StoreClock
    ) throws(StoreFailure) {
        self.instance = instance
        self.clock = clock
        let (end, heldSince, confirmedAt) = (end, heldSince, confirmedAt)
        let started = try startConnectionThread(name: "store-presence") { report throws(SQLError) in
            func open() throws(SQLError) -> PresenceSession {
                let asked = clock.milliseconds
                let session = try PresenceSession(server, instance, clock, told)
                heldSince.withLock { $0 = clock.milliseconds }
                confirmedAt.withLock { $0 = asked }
                return session
            }
            var session: PresenceSession? = try open()
            report()
            while !end.waitForClose(upTo: session == nil ? .milliseconds(200) : PostgresPresence.beat) {
                if let held = session {
                    let asked = clock.milliseconds
                    if held.beat() {
                        confirmedAt.withLock { $0 = asked }
                        continue
                    }
                    // The last beat still proves what it proved: by its row nobody takes this instance for dead before.
                    heldSince.withLock { $0 = nil }
                    session = nil
                }
                session = try? open()
            }
            // One more try where the connection was lost meanwhile: else it counts as alive for some seconds.
            if session?.leave() != true { _ = try? PresenceSession(server, instance, clock, told).leave() }
        }
        thread.withLock { $0 = started.withLock { $0.take() } }
    }

    deinit { end.close() }

    /// Whether others were told of late that this instance lives. One that they may take for dead by now begins nothing,
    /// and judges nobody: its own lock may have gone with a server that is not there any more.
    var isProven: Bool {
        confirmedAt.withLock { $0.map { clock.milliseconds - $0 < PostgresPresence.proof } ?? false }
    }

    /// Whether this instance has held its lock long enough to judge others.
    var mayJudge: Bool {
        isProven
            && heldSince.withLock { $0.map { clock.milliseconds - $0 >= PostgresPresence.grace } ?? false }
    }

    /// Gives the lock back; from then on this instance counts as dead.
    func release() {
        end.close()
        thread.joinAndForget()
    }
}

/// The connection that holds the lock.
private final class PresenceSession {
    private let connection: PostgresConnection
    private let instance: InstanceID
    private let clock: BootClock
    private let told: StoreClock

    init(_ server: PostgresServer, _ instance: InstanceID, _ clock: BootClock, _ told: StoreClock) throws(SQLError) {
        connection = try server.connectDirectly()
        self.instance = instance
        self.clock = clock
        self.told = told
        do throws(PostgresError) {
            // A lost connection's lock may not be free yet; the server drops it when it notices.
            guard try connection.locks.take(PostgresLock(kind: LinkQueries.lockKind, id: instance.lockNumber)) else {
                throw PostgresError(.conflict, detail: "this instance's lock is held")
            }
            try connection.run(PresenceQueries.tidy)
            try connection.run(PresenceQueries.tidyMarks)
            try tell()
            // After the row: a move that begins sees either it, or is seen.
            do throws(PostgresError) { try SQLConnection.refuseUnfinishedMove(connection) } catch {
                _ = leave()
                throw error
            }
        } catch { throw .postgres(error) }
    }

    /// - Returns: false where the connection, and with it the lock, is lost.
    func beat() -> Bool {
        do throws(PostgresError) {
            try tell()
            return true
        } catch { return false }
    }

    private func tell() throws(PostgresError) {
        let asked = clock.milliseconds
        let row = connection.prepare(PresenceQueries.seen)
        row.bind([instance.postgres, Int64(instance.lockNumber)])
        guard try row.step() else { throw .corrupt }
        told.read(row.integer(), asked: asked, answered: clock.milliseconds)
    }

    /// - Returns: whether it could be said.
    func leave() -> Bool {
        do throws(PostgresError) {
            try connection.run(PresenceQueries.left, instance.postgres)
            return true
        } catch { return false }
    }
}

extension InstanceID {
    fileprivate var postgres: PostgresValue { .words(uuid.high, uuid.low) }

    /// The second key of its lock: the last bits, which are random.
    fileprivate var lockNumber: Int32 { Int32(truncatingIfNeeded: uuid.low) }
}

/// Which instances live, as one transaction has found it.
final class LivingInstances {
    private enum Sign { case alive, silent, left }

    private var signs: [InstanceID: Sign]?

    /// Another transaction asks again.
    func forget() { signs = nil }

    func isAlive(
        _ owner: InstanceID, _ connection: borrowing PostgresConnection, _ presence: PostgresPresence
    ) throws(SQLError) -> Bool {
        if owner == presence.instance { return true }
        let known: [InstanceID: Sign]
        if let signs {
            known = signs
        } else {
            do throws(PostgresError) { known = try ask(connection) } catch { throw .postgres(error) }
            signs = known
        }
        switch known[owner] {
        case .alive: return true
        case .left: return false
        case .silent, nil: return !presence.mayJudge
        }
    }

    private func ask(_ connection: borrowing PostgresConnection) throws(PostgresError) -> [InstanceID: Sign] {
        let rows = connection.prepare(PresenceQueries.living)
        var found: [InstanceID: Sign] = [:]
        while try rows.step() {
            guard let uuid = UUIDv7(bytes: rows.blob()) else { throw .corrupt }
            let hasLeft = rows.integer() != 0
            let isSeen = rows.integer() != 0
            found[InstanceID(uuid)] = hasLeft ? .left : isSeen ? .alive : .silent
        }
        return found
    }
}

private enum PresenceQueries {
    static let seen = PostgresQuery(
        """
        INSERT INTO instances (id, lock_number, seen_at) VALUES ($1, $2, \(LinkQueries.now))
        ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, left_at = NULL
        RETURNING seen_at
        """)
    static let left = PostgresQuery("UPDATE instances SET left_at = \(LinkQueries.now) WHERE id = $1")
    /// Nobody has a lease of theirs any more.
    static let tidy = PostgresQuery("DELETE FROM instances WHERE seen_at < \(LinkQueries.now) - 86400000")
    /// An instance's row is there before its threads write.
    static let tidyMarks = PostgresQuery(
        "DELETE FROM batch_marks WHERE instance NOT IN (SELECT id FROM instances)")
    static let living = PostgresQuery(
        """
        SELECT id, left_at IS NOT NULL, seen_at > \(LinkQueries.now) - \(PostgresPresence.grace) OR EXISTS (
            SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2
                AND classid = \(LinkQueries.lockKind)::oid AND objid = (lock_number & 4294967295)::oid
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
        FROM instances
        """)
}
