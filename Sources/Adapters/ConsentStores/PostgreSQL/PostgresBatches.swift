// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativePostgres
internal import NativeSystem
internal import Observability

/// The loop of one of the threads that write to a server. Several take from one queue, in this process and in others:
/// what a write goes by is held by its rows' locks and the schema's unique indexes.
struct PostgresBatches: ~Copyable {
    private let queue: BlockingQueue<QueuedWrite>
    private let limit: Int
    private let health: WriteHealth
    private let metrics: Metrics
    /// How many of the threads have a connection.
    private let connected: ConnectedWriters
    /// What ran when a connection was lost; it is not known of each whether it was written.
    private var unfinished: [QueuedWrite] = []
    /// Since when something is; nil where nothing is.
    private var unfinishedSince: MonotonicInstant?

    init(
        _ queue: BlockingQueue<QueuedWrite>, limit: Int, health: WriteHealth, metrics: Metrics,
        _ connected: ConnectedWriters
    ) {
        self.queue = queue
        self.limit = limit
        self.health = health
        self.metrics = metrics
        self.connected = connected
    }

    /// How long writes of unknown fate wait for the server to come back, before they count as not written.
    private static let patience = Duration.seconds(30)

    /// How often a write is tried where others were in its way.
    private static let tries = 4

    /// Writes until the queue is closed and empty.
    /// - Parameter report: called once the first connection is open.
    /// - Throws: why the first connection could not be opened.
    mutating func run(_ server: PostgresServer, _ clock: BootClock, _ report: () -> Void) throws(SQLError) {
        var pauses = ReconnectPauses()
        do {
            let link = try PostgresLink(server, clock)
            report()
            if serve(.postgres(link)) { return }
        }
        while !queue.isClosedAndEmpty || !unfinished.isEmpty {
            do throws(SQLError) {
                let link = try PostgresLink(server, clock)
                pauses.startOver()
                if serve(.postgres(link)) { return }
            } catch {
                // What waits is the others' where one of them still writes.
                if connected.isNone {
                    health.saw(isGood: false)
                    for write in queue.takeAll() { write.refuse(StoreFailure(error)) }
                }
                refuseUnfinished(StoreFailure(error))
            }
            _ = queue.waitForClose(upTo: pauses.next())
        }
    }

    /// - Returns: false once the connection is lost.
    private mutating func serve(_ connection: borrowing SQLConnection) -> Bool {
        connected.count(1)
        defer { connected.count(-1) }
        // A commit's fate may be open: the rules let the same attempt write again.
        let again = unfinished
        unfinished = []
        guard writeApart(again, on: connection) else {
            refuseUnfinished(.retryLater("the connection was lost again"))
            return false
        }
        unfinishedSince = nil
        var last = 0
        while let writes = queue.take(upTo: limit, after: SQLWriter.gathering(after: last)) {
            last = writes.count
            metrics.observe(size: writes.count, in: .storeBatchWrites, [])
            if !writeTogether(writes, on: connection) { return false }
        }
        return true
    }

    private mutating func leave(_ writes: [QueuedWrite]) {
        unfinished = writes
        unfinishedSince = unfinishedSince ?? .now()
    }

    /// Not before the patience is over: of these it is not known whether they were written, and who is told that they
    /// were not may be told wrongly.
    private mutating func refuseUnfinished(_ failure: StoreFailure) {
        guard let since = unfinishedSince else { return }
        guard queue.isClosedAndEmpty || since.advanced(by: PostgresBatches.patience) <= .now() else { return }
        for write in unfinished { write.refuse(failure) }
        unfinished = []
        unfinishedSince = nil
    }

    /// - Returns: false once the connection is lost; what is not answered is in `unfinished`.
    private mutating func writeTogether(_ writes: [QueuedWrite], on connection: borrowing SQLConnection) -> Bool {
        guard writes.count > 1 else { return writeApart(writes, on: connection) }
        var ends: [WriteEnd] = []
        ends.reserveCapacity(writes.count)
        let error = connection.transaction { connection throws(SQLError) in
            for write in writes {
                let end = write.run(connection)
                if let error = end.error { throw error }
                ends.append(end)
            }
        }
        guard error != nil else {
            health.saw(isGood: true)
            for end in ends { end.answer(nil) }
            return true
        }
        guard connection.isUsable else {
            leave(writes)
            return false
        }
        return writeApart(writes, on: connection)
    }

    /// Each in a transaction of its own.
    private mutating func writeApart(_ writes: [QueuedWrite], on connection: borrowing SQLConnection) -> Bool {
        for (index, write) in writes.enumerated() where !finish(write, on: connection) {
            leave(Array(writes[index...]))
            return false
        }
        return true
    }

    /// - Returns: false where the connection was lost first.
    private func finish(_ write: QueuedWrite, on connection: borrowing SQLConnection) -> Bool {
        for number in 1...PostgresBatches.tries {
            var end: WriteEnd?
            let error = connection.transaction { connection throws(SQLError) in
                let own = write.run(connection)
                end = own
                if let error = own.error { throw error }
            }
            guard let error else {
                health.saw(isGood: true)
                end?.answer(nil)
                return true
            }
            guard connection.isUsable else { return false }
            if number < PostgresBatches.tries, error.isOfOthers { continue }
            let failure = StoreFailure(error)
            health.saw(isGood: health.isGood(after: failure))
            if let end { end.answer(failure) } else { write.refuse(failure) }
            return true
        }
        return true
    }
}

/// How many of a store's writing threads have a connection.
final class ConnectedWriters: Sendable {
    private let number = Locked(0)

    func count(_ change: Int) { number.withLock { $0 += change } }

    var isNone: Bool { number.withLock { $0 == 0 } }
}

/// How long a thread waits before it connects again: 50 ms, then twice as long each time, up to a second.
struct ReconnectPauses {
    private var pause = Duration.milliseconds(50)

    mutating func startOver() { self = ReconnectPauses() }

    mutating func next() -> Duration {
        defer { pause = min(pause * 2, .seconds(1)) }
        return pause
    }
}

extension SQLError {
    /// Other transactions were in the way, and may not be the next time: a deadlock, a row with the same key, a statement
    /// that a migration has made stale.
    fileprivate var isOfOthers: Bool {
        guard case .postgres(let error) = self else { return false }
        return error.kind == .conflict || error.kind == .unique || error.kind == .staleStatement
    }
}
