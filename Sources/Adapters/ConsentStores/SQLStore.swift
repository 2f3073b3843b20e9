// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeSystem
package import Observability

/// Consents in one SQLite file: a thread that writes in batches, threads that read beside it.
///
/// Several processes of one machine may open the same file, with the same state folder.
package final class SQLStore: ConsentStore {
    let writer: SQLWriter
    let readers: SQLReaders
    let rules: WritingRules
    let guardian: FileGuardian

    private init(
        writer: SQLWriter, readers: SQLReaders, rules: WritingRules, guardian: FileGuardian
    ) {
        self.writer = writer
        self.readers = readers
        self.rules = rules
        self.guardian = guardian
    }

    /// Opens the file, made and brought up to date where `migrations` says so, and takes this instance's lock.
    /// Blocks until done.
    /// - Parameters:
    ///   - path: of the database; its folder is made (0700), the file too (0600).
    ///   - stateDirectory: the folder of the instances' locks, one for all processes of this file.
    ///   - metrics: where writes and batches are counted.
    ///   - time: how long a commit was ago, for readiness.
    ///   - now: when migrations are said to have been applied.
    /// - Throws: `schemaIsNewer`, `schemaIsOlder` (manual), `damaged`, `retryLater` (locked), `outOfReach`.
    package static func open(
        path: String, stateDirectory: String, instance: InstanceID, ledger: any Ledger, migrations: MigrationMode,
        limits: StoreLimits, metrics: Metrics, time: any Timekeeper, at now: Instant
    ) throws(StoreFailure) -> SQLStore {
        try prepareSchema(path, migrations, limits, now)
        let locks = try InstanceLocks(stateDirectory: stateDirectory, instance: instance)
        do throws(StoreFailure) {
            let clock: BootClock
            do { clock = try BootClock() } catch { throw .outOfReach("the boot's identifier: \(error.sentence)") }
            let guardian = try FileGuardian(path: path, locks: locks)
            let writer = try SQLWriter(
                path: path, limits: limits, guardian: guardian, health: WriteHealth(time: time), metrics: metrics)
            do throws(StoreFailure) {
                let readers = try SQLReaders(path: path, limits: limits)
                let rules = WritingRules(
                    leases: LeaseClock(clock: clock, locks: locks), ledger: ledger, epochs: KnownEpoch())
                return SQLStore(writer: writer, readers: readers, rules: rules, guardian: guardian)
            } catch {
                writer.close()
                throw error
            }
        } catch {
            locks.release()
            throw error
        }
    }

    private static func prepareSchema(
        _ path: String, _ migrations: MigrationMode, _ limits: StoreLimits, _ now: Instant
    ) throws(StoreFailure) {
        switch migrations {
        case .automatic: try SQLiteMigrations.apply(path: path, busyTimeout: limits.busyTimeout, at: now)
        case .manual:
            let status = try SQLiteMigrations.status(path: path, busyTimeout: limits.busyTimeout)
            if status.found > status.known { throw .schemaIsNewer(found: status.found, known: status.known) }
            if status.found < status.known { throw .schemaIsOlder(found: status.found, known: status.known) }
            try prepareFile(path)
        }
    }

    /// Answers what waits, empties the write-ahead log, gives the instance's lock back. Blocks until done; what is
    /// asked later is refused with `retryLater`.
    package func close() {
        readers.close()
        writer.close()
        rules.leases.locks.release()
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
