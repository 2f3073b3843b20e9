// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeSystem
internal import Observability

/// What writes: one thread for a file, some for a server. What waits when one comes round is written in one transaction
/// and one sync; whoever waits is answered only after the commit.
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
    private let threads: [Locked<NamedThread?>]

    /// Starts the thread, which opens its own connection.
    init(
        path: String, limits: StoreLimits, guardian: FileGuardian, health: WriteHealth, metrics: Metrics
    ) throws(StoreFailure) {
        self.health = health
        self.limits = limits
        series = WriteSeries(metrics)
        let thread = try startConnectionThread(name: "store-writer") { [queue] report throws(SQLError) in
            let connection = try SQLConnection.forWriting(path, limits.busyTimeout)
            report()
            var batches = SQLiteBatches(connection: connection, guardian: guardian, health: health, metrics: metrics)
            batches.run(queue, limit: limits.batch)
        }
        threads = [thread]
    }

    /// Starts the threads, each with a connection of its own, which it opens again where it is lost.
    init(
        _ server: PostgresServer, _ clock: BootClock, instance: InstanceID, limits: StoreLimits, health: WriteHealth,
        metrics: Metrics
    ) throws(StoreFailure) {
        self.health = health
        self.limits = limits
        series = WriteSeries(metrics)
        let pool = ServerPool(server, clock, size: server.writers, spread: instance.uuid.low)
        threads = try startConnectionThreads(named: "store-writer", server.writers, ending: queue) {
            [queue] report throws(SQLError) in
            let slot = pool.newcomer()
            var batches = PostgresBatches(
                queue, limit: limits.batch, marks: BatchMarks(of: instance, writer: slot), health: health,
                metrics: metrics)
            try pool.run(&batches, as: slot, report)
        }
    }

    deinit { queue.close() }

    /// Writes of one batch from which on more are likely to come at once.
    private static let crowd = 8

    /// How long more writes are waited for after a batch of so many. A batch's sync, its pages that all writes touch and
    /// the threads' hand-over are paid once for more of them: an exchange took 0.37 to 0.40 CPU milliseconds instead of
    /// 0.40 to 0.52, at 16 as at 512 callers, and no caller waited longer; 3 ms brought no more.
    static func gathering(after last: Int) -> Duration { last < crowd ? .zero : .milliseconds(1) }

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
                    return WriteEnd(error: outcome.error) { failure in
                        let final = outcome.final(failure)
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

    /// Writes what waits, then ends the threads.
    func close() {
        queue.close()
        for thread in threads { thread.joinAndForget() }
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
    let error: SQLError?
    /// Tells who waits; a failure told here means that nothing was written.
    let answer: @Sendable (StoreFailure?) -> Void

    var failure: StoreFailure? { error.map { StoreFailure($0) } }
}

extension Result where Failure == StoreFailure {
    /// For metrics.
    fileprivate var word: StoreWriteOutcome {
        if case .success = self { .written } else { .failed }
    }
}

extension Result where Failure == SQLError {
    fileprivate var error: SQLError? {
        if case .failure(let error) = self { error } else { nil }
    }

    /// The batch's failure, unless the write has one of its own.
    fileprivate func final(_ failure: StoreFailure?) -> Result<Success, StoreFailure> {
        switch self {
        case .failure(let error): .failure(StoreFailure(error))
        case .success(let value): failure.map { .failure($0) } ?? .success(value)
        }
    }
}

private func run<Value>(
    _ body: (borrowing SQLConnection) throws(SQLError) -> Value, on connection: borrowing SQLConnection
) -> Result<Value, SQLError> {
    do throws(SQLError) { return .success(try body(connection)) } catch { return .failure(error) }
}
