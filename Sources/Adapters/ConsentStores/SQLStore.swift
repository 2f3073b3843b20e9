// SPDX-License-Identifier: Apache-2.0
package import Consents
package import Observability

/// Consents in one SQLite file or one PostgreSQL database: threads that write in batches, threads that read beside them.
///
/// Several processes may have the same store open: of a file those of one machine, with the same state folder.
package final class SQLStore: ConsentStore {
    let writer: SQLWriter
    let readers: SQLReaders
    let rules: WritingRules
    /// Nil for a server.
    let guardian: FileGuardian?

    private init(writer: SQLWriter, readers: SQLReaders, rules: WritingRules, guardian: FileGuardian?) {
        self.writer = writer
        self.readers = readers
        self.rules = rules
        self.guardian = guardian
    }

    /// Opens the store, made and brought up to date where `migrations` says so, and takes this instance's lock.
    /// Blocks until done.
    /// - Parameters:
    ///   - location: of a file, its folder is made (0700), and the file too (0600).
    ///   - stateDirectory: the folder of the instances' locks, one for all processes of a file.
    ///   - metrics: where writes and batches are counted.
    ///   - time: how long a commit was ago, for readiness.
    ///   - clockOfStore: is told a server's time from before this returns on; of a file nothing.
    ///   - now: when migrations are said to have been applied.
    /// - Throws: `schemaIsNewer`, `schemaIsOlder` (manual), `damaged`, `retryLater` (locked), `outOfReach`.
    package static func open(
        _ location: StoreLocation, stateDirectory: String, instance: InstanceID, ledger: any Ledger,
        migrations: MigrationMode, limits: StoreLimits, metrics: Metrics, time: any Timekeeper,
        telling clockOfStore: StoreClock, at now: Instant
    ) throws(StoreFailure) -> SQLStore {
        switch migrations {
        case .automatic: try location.migrate(at: now)
        case .manual: try location.migrationStatus().mustBeCurrent()
        }
        let clock = try bootClock()
        let health = WriteHealth(time: time)
        switch location {
        case .file(let path):
            try prepareFile(path)
            let locks = try InstanceLocks(stateDirectory: stateDirectory, instance: instance)
            let leases = LeaseClock(clock: clock, witness: .machine(locks))
            return try opened(leases, ledger) { () throws(StoreFailure) in
                let guardian = try FileGuardian(path: path, locks: locks)
                let writer = try SQLWriter(
                    path: path, limits: limits, guardian: guardian, health: health, metrics: metrics)
                return (writer, { () throws(StoreFailure) in try SQLReaders(path: path, limits: limits) }, guardian)
            }
        case .server(let server):
            let presence = try PostgresPresence(server, instance: instance, clock: clock, telling: clockOfStore)
            return try opened(LeaseClock(clock: clock, witness: .server(presence)), ledger) {
                () throws(StoreFailure) in
                let writer = try SQLWriter(
                    server, clock, instance: instance, limits: limits, health: health, metrics: metrics)
                return (
                    writer,
                    { () throws(StoreFailure) in try SQLReaders(server, clock, instance: instance, limits: limits) },
                    nil
                )
            }
        }
    }

    private typealias Threads = (
        writer: SQLWriter, readers: () throws(StoreFailure) -> SQLReaders, guardian: FileGuardian?
    )

    /// With its threads started; where they cannot be, none is left, and the instance's lock is given back.
    private static func opened(
        _ leases: LeaseClock, _ ledger: any Ledger, _ start: () throws(StoreFailure) -> Threads
    ) throws(StoreFailure) -> SQLStore {
        do throws(StoreFailure) {
            let threads = try start()
            do throws(StoreFailure) {
                let rules = WritingRules(leases: leases, ledger: ledger, epochs: KnownEpoch())
                return SQLStore(
                    writer: threads.writer, readers: try threads.readers(), rules: rules, guardian: threads.guardian)
            } catch {
                threads.writer.close()
                throw error
            }
        } catch {
            leases.release()
            throw error
        }
    }

    /// Answers what waits, empties a file's write-ahead log, gives the instance's lock back. Blocks until done; what is
    /// asked later is refused with `retryLater`.
    package func close() {
        readers.close()
        writer.close()
        rules.leases.release()
    }
}

/// How much the store takes on.
package struct StoreLimits: Sendable {
    /// Writes in one transaction.
    package var batch: Int
    /// Writes that may wait before those that start something are refused; what finishes something has twice that.
    package var waitingWrites: Int
    package var waitingReads: Int
    /// Threads that read.
    package var readers: Int
    /// How long another process's lock is waited for.
    package var busyTimeout: Duration

    package init(batch: Int, waitingWrites: Int, waitingReads: Int, readers: Int, busyTimeout: Duration) {
        self.batch = batch
        self.waitingWrites = waitingWrites
        self.waitingReads = waitingReads
        self.readers = readers
        self.busyTimeout = busyTimeout
    }

    /// For one process with some thousand requests a second.
    package static let standard = StoreLimits(
        batch: 256, waitingWrites: 4096, waitingReads: 8192, readers: 2, busyTimeout: .seconds(2))
}
