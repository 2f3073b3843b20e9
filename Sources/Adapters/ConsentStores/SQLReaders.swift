// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeSystem

/// Threads that read beside what writes, each on a connection of its own.
final class SQLReaders: Sendable {
    private let queue = BlockingQueue<QueuedRead>()
    private let limit: Int
    private let threads: [Locked<NamedThread?>]

    /// On connections that cannot write.
    init(path: String, limits: StoreLimits) throws(StoreFailure) {
        limit = limits.waitingReads
        threads = try startConnectionThreads(named: "store-reader", limits.readers, ending: queue) {
            [queue] report throws(SQLError) in
            let connection = try SQLConnection.forReading(path, limits.busyTimeout)
            report()
            while let reads = queue.take(upTo: 1) { for read in reads { read.run(connection).answer() } }
        }
    }

    /// On connections that are opened again where they are lost.
    init(
        _ server: PostgresServer, _ clock: BootClock, instance: InstanceID, limits: StoreLimits
    ) throws(StoreFailure) {
        limit = limits.waitingReads
        let pool = ServerPool(server, clock, size: server.readers, spread: instance.uuid.low)
        threads = try startConnectionThreads(named: "store-reader", server.readers, ending: queue) {
            [queue] report throws(SQLError) in
            var reads = PostgresReads(queue)
            try pool.run(&reads, as: pool.newcomer(), report)
        }
    }

    deinit { queue.close() }

    /// What `body` reads; it sees every write that was answered before. Where its connection is lost it runs once more.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (borrowing SQLConnection) throws(SQLError) -> Value
    ) async throws(StoreFailure) -> Value {
        let outcome: Result<Value, StoreFailure> = await withCheckedContinuation { continuation in
            let read = QueuedRead(
                run: { connection in
                    let outcome: Result<Value, StoreFailure>
                    do throws(SQLError) { outcome = .success(try body(connection)) } catch {
                        outcome = .failure(StoreFailure(error))
                    }
                    return ReadEnd { continuation.resume(returning: outcome) }
                },
                refuse: { continuation.resume(returning: .failure($0)) })
            if !queue.offer(read, limit: limit) { read.refuse(.retryLater("too many reads wait, or it is closing")) }
        }
        return try outcome.get()
    }

    /// Answers what waits, then ends the threads.
    func close() {
        queue.close()
        for thread in threads { thread.joinAndForget() }
    }
}

/// A read that waits for its turn: it is answered once, or refused.
struct QueuedRead: Sendable {
    let run: @Sendable (borrowing SQLConnection) -> ReadEnd
    let refuse: @Sendable (StoreFailure) -> Void
}

/// What a read came to, told to nobody yet.
struct ReadEnd: Sendable { let answer: @Sendable () -> Void }

/// What one of the threads that read from a server does on its connection.
private struct PostgresReads: ServerWork, ~Copyable {
    private let queue: BlockingQueue<QueuedRead>
    /// Whose connection was lost.
    private var unfinished: QueuedRead?

    init(_ queue: BlockingQueue<QueuedRead>) {
        self.queue = queue
        unfinished = nil
    }

    var isOver: Bool { queue.isClosedAndEmpty && unfinished == nil }

    func pause(for time: Duration) { _ = queue.waitForClose(upTo: time) }

    mutating func fail(_ failure: StoreFailure, refusesLine: Bool) {
        unfinished?.refuse(failure)
        unfinished = nil
        if refusesLine { for read in queue.takeAll() { read.refuse(failure) } }
    }

    mutating func work(on connection: borrowing SQLConnection) -> Bool {
        if let again = unfinished {
            unfinished = nil
            connection.beginRead()
            // Answered as it comes out: one loss is one more try.
            again.run(connection).answer()
            if !connection.isUsable { return false }
        }
        while let reads = queue.take(upTo: 1) {
            for read in reads {
                connection.beginRead()
                let end = read.run(connection)
                if !connection.isUsable {
                    unfinished = read
                    return false
                }
                end.answer()
            }
        }
        return true
    }
}
