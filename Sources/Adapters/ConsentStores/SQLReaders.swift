// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeSystem

/// Threads that read beside the writer, each on a connection that cannot write.
final class SQLReaders: Sendable {
    private let queue = BlockingQueue<@Sendable (borrowing SQLConnection) -> Void>()
    private let limit: Int
    private let threads: [Locked<NamedThread?>]

    init(path: String, limits: StoreLimits) throws(StoreFailure) {
        limit = limits.waitingReads
        var threads: [Locked<NamedThread?>] = []
        do throws(StoreFailure) {
            for number in 1...max(1, limits.readers) {
                threads.append(
                    try startConnectionThread(name: "store-reader-\(number)") { [queue] report throws(SQLError) in
                        let connection = try SQLConnection.forReading(path, limits.busyTimeout)
                        report()
                        while let reads = queue.take(upTo: 1) { for read in reads { read(connection) } }
                    })
            }
        } catch {
            queue.close()
            for thread in threads { thread.joinAndForget() }
            throw error
        }
        self.threads = threads
    }

    deinit { queue.close() }

    /// What `body` reads; it sees every write that was answered before.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (borrowing SQLConnection) throws(SQLError) -> Value
    ) async throws(StoreFailure) -> Value {
        let outcome: Result<Value, StoreFailure> = await withCheckedContinuation { continuation in
            let isTaken = queue.offer(
                { connection in
                    let outcome: Result<Value, StoreFailure>
                    do throws(SQLError) { outcome = .success(try body(connection)) } catch {
                        outcome = .failure(StoreFailure(error))
                    }
                    continuation.resume(returning: outcome)
                }, limit: limit)
            if !isTaken {
                continuation.resume(returning: .failure(.retryLater("too many reads wait, or it is closing")))
            }
        }
        return try outcome.get()
    }

    /// Answers what waits, then ends the threads.
    func close() {
        queue.close()
        for thread in threads { thread.joinAndForget() }
    }
}
