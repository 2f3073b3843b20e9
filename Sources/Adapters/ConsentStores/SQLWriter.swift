// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeSystem
internal import Observability

/// The one thread that writes. What waits when it comes round is written in one transaction and one sync; whoever
/// waits is answered only after the commit.
final class SQLWriter: Sendable {
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
    private let limits: StoreLimits
    private let series: WriteSeries
    private let thread: Locked<NamedThread?>

    /// Starts the thread, which opens its own connection.
    init(
        path: String, limits: StoreLimits, guardian: FileGuardian, health: WriteHealth, metrics: Metrics
    ) throws(StoreFailure) {
        self.health = health
        self.limits = limits
        series = WriteSeries(metrics)
        thread = try startConnectionThread(name: "store-writer") { [queue] report throws(SQLError) in
            let connection = try SQLConnection.forWriting(path, limits.busyTimeout)
            report()
            var batches = WriteBatches(connection: connection, guardian: guardian, health: health, metrics: metrics)
            batches.run(queue, limit: limits.batch)
        }
    }

    deinit { queue.close() }

    /// What `body` returns, once it is synced to disk. Its failure takes back its own changes and no neighbour's.
    /// - Parameter body: does nothing but read and write through the connection. Where it or a neighbour fails, all is
    ///   taken back and it runs a second time.
    func write<Value: Sendable>(
        _ urgency: Urgency, _ body: @escaping @Sendable (borrowing SQLConnection) throws(SQLError) -> Value
    ) async throws(StoreFailure) -> Value {
        let limit = urgency == .starts ? limits.waitingWrites : 2 * limits.waitingWrites
        let outcome: Result<Value, StoreFailure> = await withCheckedContinuation { continuation in
            let write = QueuedWrite(
                run: { [series] connection in
                    let outcome = run(body, on: connection)
                    return WriteEnd(failure: outcome.failure) { failure in
                        let final = failure.map { outcome.replacing(with: $0) } ?? outcome
                        series.count(final.word)
                        continuation.resume(returning: final)
                    }
                },
                refuse: { [series] in
                    series.count(.refused)
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

/// The series of what became of writes, each found once.
private final class WriteSeries: Sendable {
    private let written, failed, refused: MetricCounter?

    init(_ metrics: Metrics) {
        func counter(_ outcome: StoreWriteOutcome) -> MetricCounter? {
            metrics.counter(.storeWrites, [outcome.rawValue])
        }
        (written, failed, refused) = (counter(.written), counter(.failed), counter(.refused))
    }

    func count(_ outcome: StoreWriteOutcome) {
        switch outcome {
        case .written: written?.count()
        case .failed: failed?.count()
        case .refused: refused?.count()
        }
    }
}

/// A write that waits for its batch: one end of it is answered, or it is refused.
struct QueuedWrite: Sendable {
    /// Runs inside the transaction. Once more where that was taken back; the end of the first run is then dropped.
    let run: @Sendable (borrowing SQLConnection) -> WriteEnd
    let refuse: @Sendable (StoreFailure) -> Void
}

/// What one run of a write came to, told to nobody yet.
struct WriteEnd: Sendable {
    /// Its own.
    let failure: StoreFailure?
    /// Tells who waits; a failure told here means that nothing was written.
    let answer: @Sendable (StoreFailure?) -> Void
}

extension Result where Failure == StoreFailure {
    fileprivate var failure: StoreFailure? {
        if case .failure(let failure) = self { failure } else { nil }
    }

    /// For metrics.
    fileprivate var word: StoreWriteOutcome {
        if case .success = self { .written } else { .failed }
    }

    /// The batch's failure, unless the write has one of its own.
    fileprivate func replacing(with failure: StoreFailure) -> Result {
        if case .failure = self { self } else { .failure(failure) }
    }
}

private func run<Value>(
    _ body: (borrowing SQLConnection) throws(SQLError) -> Value, on connection: borrowing SQLConnection
) -> Result<Value, StoreFailure> {
    do throws(SQLError) { return .success(try body(connection)) } catch { return .failure(StoreFailure(error)) }
}

/// The writer's loop, on its own thread.
private struct WriteBatches: ~Copyable {
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

    /// Writes of one batch from which on more are likely to come at once.
    private static let crowd = 8
    /// How long they are then waited for. A batch's sync, its pages that all writes touch and the threads' hand-over are
    /// paid once for more of them: an exchange took 0.37 to 0.40 CPU milliseconds instead of 0.40 to 0.52, at 16 as at 512
    /// callers, and no caller waited longer; 3 ms brought no more.
    private static let gathering = Duration.milliseconds(1)

    mutating func run(_ queue: BlockingQueue<QueuedWrite>, limit: Int) {
        var last = 0
        while let writes = queue.take(upTo: limit, after: last < WriteBatches.crowd ? .zero : WriteBatches.gathering) {
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
            if end.failure != nil {
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
            try connection.execute(end.failure == nil ? BatchQueries.release : BatchQueries.takeBack)
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
