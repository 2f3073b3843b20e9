// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativePostgres
internal import NativeSystem

/// How long a row is somebody's: until a time of the store's clock, and no longer than its owner lives.
struct Lease: Equatable {
    var owner: InstanceID
    /// Milliseconds of the boot clock, or of the server's.
    var until: Int64
    /// The boot that they count from; of a server always the same word.
    var boot: String
}

/// Says which leases stand. A lease ends when its time is over, when its owner is gone, or with the boot that it was
/// given in.
struct LeaseClock: Sendable {
    enum Witness: Sendable {
        /// Instances of one machine, by its boot clock.
        case machine(InstanceLocks)
        /// Instances anywhere, by the server's clock.
        case server(PostgresPresence)
    }

    let clock: BootClock
    let witness: Witness

    /// No lease was ever given for longer, so one that ends later than this from now is not believed; milliseconds.
    private static let longest: Int64 = 3_600_000

    /// Whose leases are given here.
    var instance: InstanceID {
        switch witness {
        case .machine(let locks): locks.instance
        case .server(let presence): presence.instance
        }
    }

    func lease(for length: Duration, in connection: borrowing SQLConnection) throws(SQLError) -> Lease {
        Lease(owner: instance, until: try now(connection) + LeaseClock.milliseconds(of: length), boot: boot)
    }

    /// A lease's length as it is given.
    static func milliseconds(of length: Duration) -> Int64 { min(max(0, length.milliseconds), longest) }

    func stands(_ lease: Lease, in connection: borrowing SQLConnection) throws(SQLError) -> Bool {
        guard lease.boot == boot else { return false }
        let rest = lease.until - (try now(connection))
        guard rest > 0, rest <= LeaseClock.longest else { return false }
        return try isAlive(lease.owner, in: connection)
    }

    /// Before anything is claimed: an instance that others may take for dead by now would send what they send too.
    /// - Throws: as where the connection is lost.
    func mustBeProven() throws(SQLError) {
        guard case .server(let presence) = witness, !presence.isProven else { return }
        throw .postgres(PostgresError(.lost, detail: "this instance's own lock is not confirmed"))
    }

    /// Whether the instance runs; where it cannot be told it is taken for alive.
    func isAlive(_ owner: InstanceID, in connection: borrowing SQLConnection) throws(SQLError) -> Bool {
        switch witness {
        case .machine(let locks): return locks.isAlive(owner)
        case .server(let presence):
            switch connection {
            case .sqlite: return true
            case .postgres(let link): return try link.living.isAlive(owner, link.connection, presence)
            }
        }
    }

    /// Gives back what tells that this instance lives.
    func release() {
        switch witness {
        case .machine(let locks): locks.release()
        case .server(let presence): presence.release()
        }
    }

    private var boot: String {
        switch witness {
        case .machine: clock.boot
        case .server: "server"
        }
    }

    private func now(_ connection: borrowing SQLConnection) throws(SQLError) -> Int64 {
        switch connection {
        case .sqlite: clock.milliseconds
        case .postgres(let link): try link.milliseconds()
        }
    }
}

func bootClock() throws(StoreFailure) -> BootClock {
    do { return try BootClock() } catch { throw .outOfReach("the boot's identifier: \(error.sentence)") }
}
