// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeSystem
internal import Observability

/// The loop of the one thread that writes to a file.
struct SQLiteBatches: ~Copyable {
    let connection: SQLConnection
    let guardian: FileGuardian
    let health: WriteHealth
    let metrics: Metrics
    private var writeAheadLog: FileIdentity?

    init(connection: consuming SQLConnection, guardian: FileGuardian, health: WriteHealth, metrics: Metrics) {
        self.health = health
        self.connection = connection
        self.guardian = guardian
        self.metrics = metrics
        writeAheadLog = nil
    }

    mutating func run(_ queue: BlockingQueue<QueuedWrite>, limit: Int) {
        var last = 0
        while let writes = queue.take(upTo: limit, after: SQLWriter.gathering(after: last)) {
            last = writes.count
            do throws(StoreFailure) {
                try begin()
                metrics.observe(size: writes.count, in: .storeBatchWrites, [])
                if writeTogether(writes) { continue }
                try begin()
            } catch {
                health.saw(isGood: false)
                // Those behind have waited as long: one busy time-out is the bound for all.
                for write in writes + queue.takeAll() { write.refuse(error) }
                continue
            }
            writeApart(writes)
        }
        // Tried once: where a reader of another process stands in the way, the next opening does it.
        try? connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    private mutating func begin() throws(StoreFailure) {
        try guardian.check(writeAheadLog: writeAheadLog)
        try translated { () throws(SQLError) in try connection.run(BatchQueries.begin) }
        if writeAheadLog == nil { writeAheadLog = try? identity(of: guardian.path + "-wal") }
    }

    /// Without marks between the writes: for a mark SQLite copies each page before its first change, a fifth of the CPU
    /// of an exchange's three writes.
    /// - Returns: false where one of them failed; then all were taken back, and nobody was told.
    private func writeTogether(_ writes: [QueuedWrite]) -> Bool {
        var ends: [WriteEnd] = []
        ends.reserveCapacity(writes.count)
        for write in writes {
            let end = write.run(connection)
            if end.error != nil {
                rollBack()
                return false
            }
            ends.append(end)
        }
        commit(ends)
        return true
    }

    /// Each between two marks, so that one that fails is taken back alone.
    private func writeApart(_ writes: [QueuedWrite]) {
        var ends: [WriteEnd] = []
        for write in writes {
            // An error can make SQLite take back the whole transaction: then nothing more may be written.
            if connection.isOutsideTransaction {
                write.refuse(.retryLater("a neighbour's failure took the batch back"))
            } else if let end = runMarked(write) {
                if let failure = end.failure { health.saw(failure) }
                ends.append(end)
            }
        }
        commit(ends)
    }

    /// - Returns: nil where it was refused.
    private func runMarked(_ write: QueuedWrite) -> WriteEnd? {
        do throws(SQLError) {
            try connection.run(BatchQueries.mark)
            let end = write.run(connection)
            // Where SQLite has taken back the whole transaction there is no mark to go back to.
            if connection.isOutsideTransaction { return end }
            try connection.execute(end.error == nil ? BatchQueries.release : BatchQueries.takeBack)
            return end
        } catch {
            let failure = StoreFailure(error)
            health.saw(failure)
            if !connection.isOutsideTransaction { try? connection.execute(BatchQueries.takeBack) }
            write.refuse(failure)
            return nil
        }
    }

    private func commit(_ ends: [WriteEnd]) {
        var failure: StoreFailure?
        if connection.isOutsideTransaction {
            failure = .retryLater("a neighbour's failure took the batch back")
        } else {
            do throws(SQLError) { try connection.run(BatchQueries.commit) } catch {
                failure = StoreFailure(error)
                rollBack()
            }
        }
        health.saw(isGood: failure == nil)
        for end in ends { end.answer(failure) }
    }

    private func rollBack() {
        if !connection.isOutsideTransaction { try? connection.execute("ROLLBACK") }
    }
}

private enum BatchQueries {
    static let begin = SQLQuery("BEGIN IMMEDIATE")
    static let commit = SQLQuery("COMMIT")
    static let mark = SQLQuery("SAVEPOINT one_write")
    static let release = "RELEASE one_write"
    static let takeBack = "ROLLBACK TO one_write; RELEASE one_write"
}
