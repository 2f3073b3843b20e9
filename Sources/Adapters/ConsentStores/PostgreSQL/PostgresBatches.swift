// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativePostgres
internal import NativeSystem
internal import Observability

/// What one of the threads that write to a server does on its connection. Several take from one queue, in this process
/// and in others: what a write goes by is held by its rows' locks and the schema's unique indexes.
struct PostgresBatches: ServerWork, ~Copyable {
    private let queue: BlockingQueue<QueuedWrite>
    private let limit: Int
    private let health: WriteHealth
    private let metrics: Metrics
    private var marks: BatchMarks
    /// What a lost connection has left.
    private var unfinished: [QueuedWrite] = []
    /// The transaction that was under way then, of the first of these; nil where it is known not to be written.
    private var open: OpenTransaction?
    /// Since when something is; nil where nothing is.
    private var unfinishedSince: MonotonicInstant?

    init(
        _ queue: BlockingQueue<QueuedWrite>, limit: Int, marks: BatchMarks, health: WriteHealth, metrics: Metrics
    ) {
        self.queue = queue
        self.limit = limit
        self.health = health
        self.metrics = metrics
        self.marks = marks
    }

    /// How long writes of unknown fate wait for the server to come back, before they count as not written.
    private static let patience = Duration.seconds(30)

    /// How often a write is tried where others were in its way.
    private static let tries = 4

    var isOver: Bool { queue.isClosedAndEmpty && unfinished.isEmpty }

    func pause(for time: Duration) { _ = queue.waitForClose(upTo: time) }

    mutating func fail(_ failure: StoreFailure, refusesLine: Bool) {
        if refusesLine {
            health.saw(isGood: false)
            for write in queue.takeAll() { write.refuse(failure) }
        }
        refuseUnfinished(failure)
    }

    mutating func work(on connection: borrowing SQLConnection) -> Bool {
        // Of an instance that had this one's name there may be some.
        if marks.number == 0 { try? marks.removeAll(connection) }
        guard finishUnfinished(on: connection) else {
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
        // Else the next instance that begins does it.
        try? marks.removeAll(connection)
        return true
    }

    /// Answers what was written after all, and writes the rest.
    /// - Returns: false where it stays to be done.
    private mutating func finishUnfinished(on connection: borrowing SQLConnection) -> Bool {
        if let open {
            guard let fate = try? marks.fate(of: open.number, connection) else { return false }
            self.open = nil
            if fate == .written {
                for end in open.ends { end.answer(nil) }
                unfinished.removeFirst(open.ends.count)
            }
        }
        let again = unfinished
        unfinished = []
        return writeApart(again, on: connection)
    }

    private mutating func leave(_ writes: [QueuedWrite], _ open: OpenTransaction?) {
        unfinished = writes
        self.open = open
        unfinishedSince = unfinishedSince ?? .now()
    }

    /// Not before the patience is over: of these it is not known whether they were written, and who is told that they
    /// were not may be told wrongly.
    private mutating func refuseUnfinished(_ failure: StoreFailure) {
        guard let since = unfinishedSince else { return }
        guard queue.isClosedAndEmpty || since.advanced(by: PostgresBatches.patience) <= .now() else { return }
        for write in unfinished { write.refuse(failure) }
        (unfinished, open) = ([], nil)
        unfinishedSince = nil
    }

    /// - Returns: false once the connection is lost; what is not answered is in `unfinished`.
    private mutating func writeTogether(_ writes: [QueuedWrite], on connection: borrowing SQLConnection) -> Bool {
        guard writes.count > 1 else { return writeApart(writes, on: connection) }
        switch transact(writes[...], on: connection) {
        case .written(let ends):
            health.saw(isGood: true)
            for end in ends { end.answer(nil) }
            return true
        case .failed: return writeApart(writes, on: connection)
        case .lost(let open):
            leave(writes, open)
            return false
        }
    }

    /// Each in a transaction of its own.
    private mutating func writeApart(_ writes: [QueuedWrite], on connection: borrowing SQLConnection) -> Bool {
        for index in writes.indices {
            guard case .lost(let open) = finish(writes[index...index], on: connection) else { continue }
            leave(Array(writes[index...]), open)
            return false
        }
        return true
    }

    /// One write, which is answered unless the connection was lost first.
    private mutating func finish(_ write: ArraySlice<QueuedWrite>, on connection: borrowing SQLConnection) -> Outcome {
        var number = 1
        while true {
            let outcome = transact(write, on: connection)
            switch outcome {
            case .lost: return outcome
            case .written(let ends):
                health.saw(isGood: true)
                for end in ends { end.answer(nil) }
                return outcome
            case .failed(let error, let end):
                number += 1
                if number <= PostgresBatches.tries, error.isOfOthers { continue }
                let failure = StoreFailure(error)
                health.saw(isGood: health.isGood(after: failure))
                if let end { end.answer(failure) } else { for write in write { write.refuse(failure) } }
                return outcome
            }
        }
    }

    /// What one transaction came to; nobody has been answered.
    private enum Outcome {
        case written([WriteEnd])
        /// Taken back, or as good as that.
        /// - Parameter end: that of the write that failed.
        case failed(SQLError, end: WriteEnd?)
        /// The connection was.
        case lost(OpenTransaction?)
    }

    private mutating func transact(_ writes: ArraySlice<QueuedWrite>, on connection: borrowing SQLConnection) -> Outcome
    {
        let number = marks.draw()
        var ends: [WriteEnd] = []
        ends.reserveCapacity(writes.count)
        let error = connection.transaction { connection throws(SQLError) in
            try marks.set(number, in: connection)
            try marks.tidy(in: connection)
            for write in writes {
                let end = write.run(connection)
                ends.append(end)
                if let error = end.error { throw error }
            }
        }
        guard let error else { return .written(ends) }
        // COMMIT comes after the last of them.
        let mayBeWritten = ends.count == writes.count && ends.last?.error == nil
        if !connection.isUsable {
            return .lost(mayBeWritten ? OpenTransaction(number: number, ends: ends) : nil)
        }
        if mayBeWritten, error.isUnknownCommit {
            switch try? marks.fate(of: number, connection) {
            case .written?: return .written(ends)
            case .neverWritten?: break
            // Another connection finds it out.
            case nil: return .lost(OpenTransaction(number: number, ends: ends))
            }
        }
        return .failed(error, end: ends.last)
    }
}

/// A transaction of which it is not known whether it was committed.
private struct OpenTransaction {
    var number: Int64
    /// What its writes came to, if it was.
    var ends: [WriteEnd]
}

extension SQLError {
    /// COMMIT was sent, and its answer does not say whether it will stay.
    fileprivate var isUnknownCommit: Bool {
        guard case .postgres(let error) = self else { return false }
        return error.kind == .commitUnknown
    }

    /// Other transactions were in the way, and may not be the next time: a deadlock, a row with the same key, a statement
    /// that a migration has made stale.
    fileprivate var isOfOthers: Bool {
        guard case .postgres(let error) = self else { return false }
        return error.kind == .conflict || error.kind == .unique || error.kind == .staleStatement
    }
}
