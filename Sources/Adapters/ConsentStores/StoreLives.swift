// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeSystem

/// Where this instance saw the store last. A store that is behind it was put back meanwhile, and takes no claim, however
/// recently anybody looked.
final class KnownEpoch: Sendable {
    private let epoch = Locked<StoreEpoch?>(nil)

    var value: StoreEpoch? { epoch.withLock { $0 } }
    func set(_ next: StoreEpoch) { epoch.withLock { $0 = next } }
}

extension SQLStore {
    package func life() async throws(StoreFailure) -> StoreLife {
        try await readers.read { connection throws(SQLError) in try LifeRow(isHeld: false, in: connection).life }
    }

    package func stepEpoch(from known: StoreEpoch?, newborn: UUIDv7, at now: Instant)
        async throws(StoreFailure) -> EpochStep
    {
        let step = try await writer.write(.starts) { [rules] connection throws(SQLError) in
            try rules.step(from: known, newborn, at: now, in: connection)
        }
        // After the commit: a step that was taken back is none.
        if case .reached(let epoch) = step { rules.epochs.set(epoch) }
        return step
    }

    package func stopRefreshing(_ reason: RefreshStop, at now: Instant) async throws(StoreFailure) {
        try await writer.write(.finishes) { connection throws(SQLError) in
            connection.seen?.forget()
            try connection.run(LifeQueries.stop, reason.rawValue, now)
        }
    }

    package func acceptStore(as epoch: StoreEpoch, at now: Instant) async throws(StoreFailure) {
        try await writer.write(.finishes) { [rules] connection throws(SQLError) in
            connection.seen?.forget()
            try connection.run(LifeQueries.accept, epoch.incarnation.bytes, epoch.number, now, now)
            try rules.noteStep(epoch, in: connection)
            try markPage(in: connection)
        }
        rules.epochs.set(epoch)
    }
}

extension WritingRules {
    fileprivate func step(
        from known: StoreEpoch?, _ newborn: UUIDv7, at now: Instant, in connection: borrowing SQLConnection
    ) throws(SQLError) -> EpochStep {
        connection.seen?.forget()
        let row = try LifeRow(isHeld: true, in: connection)
        if let stop = row.life.stop { return .stopped(stop) }
        let found = row.life.mark?.epoch
        if let known {
            guard let found, found.incarnation == known.incarnation else {
                return .otherLife(found ?? StoreEpoch(incarnation: newborn, number: 0))
            }
            guard found.number >= known.number, try ownStep(in: connection) >= known.number else {
                try connection.run(LifeQueries.stop, RefreshStop.wentBack.rawValue, now)
                return .stopped(.wentBack)
            }
        }
        let next = StoreEpoch(incarnation: found?.incarnation ?? newborn, number: (found?.number ?? 0) + 1)
        try connection.run(LifeQueries.step, next.incarnation.bytes, next.number, now)
        try noteStep(next, in: connection)
        try connection.run(LifeQueries.forgetSteps, next.number - StoreEpoch.stepsKept)
        try markPage(in: connection)
        return .reached(next)
    }

    fileprivate func noteStep(_ epoch: StoreEpoch, in connection: borrowing SQLConnection) throws(SQLError) {
        try connection.run(LifeQueries.noteStep, leases.instance, epoch.number)
    }

    /// The number that this instance has reached itself, as the store has it; 0 where it has none.
    private func ownStep(in connection: borrowing SQLConnection) throws(SQLError) -> Int64 {
        let row = try connection.prepare(LifeQueries.ownStep)
        try row.bind(leases.instance)
        return try row.step() ? row.integer() : 0
    }

    /// Whether a refresh token may be claimed: nobody has stopped refreshing, and the store is not behind what this
    /// instance has seen of it.
    func mayRefresh(in connection: borrowing SQLConnection) throws(SQLError) -> Bool {
        // Before the row: another thread may step on in between, and the row is then ahead of what is known, not behind.
        let known = epochs.value
        if let life = connection.seen?.life, life.takesClaims(of: known) { return true }
        let row = try connection.prepare(LifeQueries.claims)
        try row.bind(leases.instance)
        guard try row.step() else { return false }
        let life = ClaimableLife(
            incarnation: row.optionalBlob(), number: row.integer(), isStopped: row.optionalText() != nil)
        connection.seen?.saw(life)
        return life.takesClaims(of: known)
    }
}

/// Counts up a number in the database's first page, which every page-1 frame of the write-ahead log then holds too: a log
/// can be told from that of another copy by it (``refuseForeignLog(of:)``). A server looks after its own log.
private func markPage(in connection: borrowing SQLConnection) throws(SQLError) {
    if connection.hasOtherWriters { return }
    let row = try connection.prepare(LifeQueries.pageMark)
    try row.bind()
    let mark = try row.step() ? row.integer() : 0
    // A pragma takes no parameters.
    try connection.execute("PRAGMA user_version = \((mark + 1) & 0x7FFF_FFFF)")
}

/// The one row of `store_identity`.
private struct LifeRow {
    let life: StoreLife

    init(isHeld: Bool, in connection: borrowing SQLConnection) throws(SQLError) {
        let row = try connection.prepare(isHeld ? LifeQueries.selectHeld : LifeQueries.select)
        try row.bind()
        guard try row.step() else { throw .corrupt }
        let incarnation = row.optionalBlob().flatMap(UUIDv7.init(bytes:))
        let number = row.integer()
        let at = row.instant()
        let stop = try row.optionalWord(RefreshStop.self)
        let acceptedAt = row.optionalInstant()
        let mark = incarnation.map { EpochMark(epoch: StoreEpoch(incarnation: $0, number: number), at: at) }
        life = StoreLife(mark: mark, stop: stop, acceptedAt: acceptedAt)
    }
}

private enum LifeQueries {
    private static let life = """
        SELECT incarnation, epoch, epoch_at, refresh_stop, accepted_at FROM store_identity
        """
    static let select = SQLQuery(life)
    static let selectHeld = SQLQuery(locking: life)
    /// The instance's own step, for which none of another can stand in.
    static let claims = SQLQuery(
        """
        SELECT incarnation, coalesce((SELECT epoch FROM epoch_steps WHERE instance = ?), 0), refresh_stop
        FROM store_identity
        """)
    static let ownStep = SQLQuery("SELECT epoch FROM epoch_steps WHERE instance = ?")
    static let noteStep = SQLQuery(
        """
        INSERT INTO epoch_steps (instance, epoch) VALUES (?, ?)
        ON CONFLICT (instance) DO UPDATE SET epoch = excluded.epoch
        """)
    static let forgetSteps = SQLQuery("DELETE FROM epoch_steps WHERE epoch < ?")
    static let step = SQLQuery("UPDATE store_identity SET incarnation = ?, epoch = ?, epoch_at = ?")
    static let stop = SQLQuery(
        "UPDATE store_identity SET refresh_stop = ?, refresh_stopped_at = ? WHERE refresh_stop IS NULL")
    static let accept = SQLQuery(
        """
        UPDATE store_identity SET incarnation = ?, epoch = ?, epoch_at = ?, accepted_at = ?, refresh_stop = NULL,
            refresh_stopped_at = NULL
        """)
    static let pageMark = SQLQuery("PRAGMA user_version")
}
