// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeSystem

/// How long a row is somebody's: until a time of the boot clock, and no longer than its owner lives.
struct Lease: Equatable {
    var owner: InstanceID
    /// Milliseconds of the boot clock.
    var until: Int64
    var boot: String
}

/// Says which leases stand. A lease ends when its time is over, when its owner's lock is free, or with the boot that
/// it was given in.
struct LeaseClock: Sendable {
    let clock: BootClock
    let locks: InstanceLocks

    /// No lease was ever given for longer, so one that ends later than this from now is not believed; milliseconds.
    private static let longest: Int64 = 3_600_000

    /// Whose leases are given here.
    var instance: InstanceID { locks.instance }

    func lease(for length: Duration, in connection: borrowing SQLConnection) -> Lease {
        Lease(owner: instance, until: clock.milliseconds + LeaseClock.milliseconds(of: length), boot: clock.boot)
    }

    /// A lease's length as it is given.
    static func milliseconds(of length: Duration) -> Int64 { min(max(0, length.milliseconds), longest) }

    func stands(_ lease: Lease, in connection: borrowing SQLConnection) -> Bool {
        guard lease.boot == clock.boot else { return false }
        let rest = lease.until - clock.milliseconds
        return rest > 0 && rest <= LeaseClock.longest && isAlive(lease.owner, in: connection)
    }

    /// Whether the instance runs; where it cannot be told it is taken for alive.
    func isAlive(_ owner: InstanceID, in connection: borrowing SQLConnection) -> Bool { locks.isAlive(owner) }
}
