// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeSQLite
internal import NativeSystem
internal import Observability

/// The one thread that writes. What waits when it comes round is written in one transaction and one sync; whoever
/// waits is answered only after the commit.
final class SQLiteWriter: Sendable {
    /// Which of two writes is refused first when too many wait.
    enum Urgency: Sendable {
        /// Comes before anything is sent: refused first.
        case starts
        /// Keeps what a provider has answered.
        case finishes
    }

    /// What the last batch came to.
    let health: WriteHealth
    private let queue = BlockingQueue<QueuedWrite>()
    private let limits: SQLiteStoreLimits
    private let metrics: Metrics
    private let thread: Locked<NamedThread?>

    /// Starts the thread, which opens its own connection.
    init(
        path: String, limits: SQLiteStoreLimits, guardian: FileGuardian, health: WriteHealth, metrics: Metrics
    ) throws(StoreFailure) {
        self.health = health
        self.limits = limits
        self.metrics = metrics
        thread = try startConnectionThread(name: "store-writer") { [queue] report throws(SQLiteError) in
            let connection = try openForWriting(path, limits.busyTimeout)
            report()
            var batches = WriteBatches(connection: connection, guardian: guardian, health: health, metrics: metrics)
            batches.run(queue, limit: limits.batch)
        }
    }

    deinit { queue.close() }

    /// What `body` returns, once it is synced to disk. It runs once at most, and its failure takes back its own
    /// changes and no neighbour's.
    func write<Value: Sendable>(
        _ urgency: Urgency, _ body: @escaping @Sendable (borrowing SQLiteConnection) throws(SQLiteError) -> Value
    ) async throws(StoreFailure) -> Value {
        let limit = urgency == .starts ? limits.waitingWrites : 2 * limits.waitingWrites
        let outcome: Result<Value, StoreFailure> = await withCheckedContinuation { continuation in
            let write = QueuedWrite(
                run: { [metrics, health] connection in
                    let outcome = isolated(connection, body)
                    if case .failure(let failure) = outcome { health.saw(failure) }
                    return { failure in
                        let final = failure.map { outcome.replacing(with: $0) } ?? outcome
                        metrics.count(.storeWrites, [final.word.rawValue])
                        continuation.resume(returning: final)
                    }
                },
                refuse: { [metrics] in
                    metrics.count(.storeWrites, [StoreWriteOutcome.refused.rawValue])
                    continuation.resume(returning: .failure($0))
                })
            if !queue.offer(write, limit: limit) { write.refuse(.retryLater("too many writes wait, or it is closing")) }
        }
        return try outcome.get()
    }

    /// Writes what waits, then ends the thread.
    func close() {
        queue.close()
        thread.joinAndForget()
    }
}

/// A write that waits for its batch; exactly one of the two is called.
struct QueuedWrite: Sendable {
    /// Runs inside the transaction and returns who is to be told; a failure told there means that nothing was
    /// written.
    let run: @Sendable (borrowing SQLiteConnection) -> @Sendable (StoreFailure?) -> Void
    let refuse: @Sendable (StoreFailure) -> Void
}

extension Result where Failure == StoreFailure {
    /// For metrics.
    fileprivate var word: StoreWriteOutcome {
        if case .success = self { .written } else { .failed }
    }

    /// The batch's failure, unless the write has one of its own.
    fileprivate func replacing(with failure: StoreFailure) -> Result {
        if case .failure = self { self } else { .failure(failure) }
    }
}

/// Runs one write between two marks, so that it alone can be taken back.
private func isolated<Value>(
    _ connection: borrowing SQLiteConnection, _ body: (borrowing SQLiteConnection) throws(SQLiteError) -> Value
) -> Result<Value, StoreFailure> {
    do throws(SQLiteError) {
        try connection.run(BatchQueries.mark)
        let value = try body(connection)
        try connection.run(BatchQueries.release)
        return .success(value)
    } catch {
        // Where SQLite has taken back the whole transaction there is no mark to go back to.
        if !connection.isOutsideTransaction {
            try? connection.execute("ROLLBACK TO one_write; RELEASE one_write")
        }
        return .failure(StoreFailure(error))
    }
}

/// The writer's loop, on its own thread.
private struct WriteBatches: ~Copyable {
    let connection: SQLiteConnection
    let guardian: FileGuardian
    let health: WriteHealth
    let metrics: Metrics
    private var writeAheadLog: FileIdentity?

    init(connection: consuming SQLiteConnection, guardian: FileGuardian, health: WriteHealth, metrics: Metrics) {
        self.health = health
        self.connection = connection
        self.guardian = guardian
        self.metrics = metrics
        writeAheadLog = nil
    }

    mutating func run(_ queue: BlockingQueue<QueuedWrite>, limit: Int) {
        while let writes = queue.take(upTo: limit) {
            do throws(StoreFailure) {
                try begin()
            } catch {
                health.saw(isGood: false)
                // Those behind have waited as long: one busy time-out is the bound for all.
                for write in writes + queue.takeAll() { write.refuse(error) }
                continue
            }
            commit(writes)
        }
        // Tried once: where a reader of another process stands in the way, the next opening does it.
        try? connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    private mutating func begin() throws(StoreFailure) {
        try guardian.check(writeAheadLog: writeAheadLog)
        try translated { () throws(SQLiteError) in _ = try connection.run(BatchQueries.begin) }
        if writeAheadLog == nil { writeAheadLog = try? identity(of: guardian.path + "-wal") }
    }

    private func commit(_ writes: [QueuedWrite]) {
        metrics.observe(size: writes.count, in: .storeBatchWrites, [])
        var answers: [@Sendable (StoreFailure?) -> Void] = []
        answers.reserveCapacity(writes.count)
        var failure: StoreFailure?
        for write in writes {
            // An error can make SQLite take back the whole transaction: then nothing more may be written.
            if connection.isOutsideTransaction {
                write.refuse(.retryLater("a neighbour's failure took the batch back"))
            } else {
                answers.append(write.run(connection))
            }
        }
        if connection.isOutsideTransaction {
            failure = .retryLater("a neighbour's failure took the batch back")
        } else {
            do throws(SQLiteError) { try connection.run(BatchQueries.commit) } catch {
                failure = StoreFailure(error)
                if !connection.isOutsideTransaction { try? connection.execute("ROLLBACK") }
            }
        }
        health.saw(isGood: failure == nil)
        for answer in answers { answer(failure) }
    }
}

private enum BatchQueries {
    static let begin = SQLiteQuery("BEGIN IMMEDIATE")
    static let commit = SQLiteQuery("COMMIT")
    static let mark = SQLiteQuery("SAVEPOINT one_write")
    static let release = SQLiteQuery("RELEASE one_write")
}
