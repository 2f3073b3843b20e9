// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeSystem

/// Moves a file's consents into a server's empty tables: every row of every table, as it lies there and sealed as it is.
///
/// By pages in the order of the primary keys, a transaction each: what is there tells where another run goes on. At the
/// end every row is read again on both sides and compared, and so are the ends of the chains. Only then the life of the
/// file's store goes on in the tables: its incarnation and epoch come last.
package struct StoreMove: Sendable {
    private let path: String
    private let stateDirectories: [String]
    private let server: PostgresServer
    private let pageRows: Int
    private let sha256: @Sendable ([UInt8]) -> [UInt8]

    /// - Parameters:
    ///   - path: the file, which is not changed.
    ///   - stateDirectories: where processes that work on the file may have their locks.
    ///   - pageRows: how many rows a transaction copies.
    ///   - sha256: makes 32 bytes.
    package init(
        from path: String, stateDirectories: [String], to server: PostgresServer,
        pageRows: Int = StoreMove.usualPageRows,
        sha256: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) {
        self.path = path
        self.stateDirectories = stateDirectories
        self.server = server
        self.pageRows = pageRows
        self.sha256 = sha256
    }

    package static let usualPageRows = 256

    /// Does it on a thread of its own.
    /// - Parameters:
    ///   - isInterrupted: from the first true on nothing more is copied.
    ///   - progress: called after each page.
    package func callAsFunction(
        at now: Instant, isInterrupted: @escaping @Sendable () -> Bool,
        progress: @escaping @Sendable (MoveProgress) -> Void
    ) async throws(MoveFailure) -> MoveReport {
        let kept = Locked<Locked<NamedThread?>?>(nil)
        let outcome: Result<MoveReport, MoveFailure> = await withCheckedContinuation { continuation in
            do throws(SystemCallError) {
                let thread = Locked<NamedThread?>(
                    try NamedThread(name: "store-move") {
                        do throws(MoveFailure) {
                            let source = try MovingSource.open(path: path, stateDirectories: stateDirectories)
                            let target = try MovingTarget.open(server)
                            let pass = MovePass(
                                self, from: source, to: target, isInterrupted: isInterrupted, progress: progress)
                            continuation.resume(returning: .success(try pass.run(at: now)))
                        } catch { continuation.resume(returning: .failure(error)) }
                    })
                kept.withLock { $0 = thread }
            } catch { continuation.resume(returning: .failure(.target(.outOfReach("no thread: \(error)")))) }
        }
        kept.withLock { $0 }?.joinAndForget()
        return try outcome.get()
    }

    /// One run, on its thread.
    private struct MovePass: ~Copyable {
        private let source: MovingSource
        private let target: MovingTarget
        private let pageRows: Int
        private let sha256: @Sendable ([UInt8]) -> [UInt8]
        private let isInterrupted: @Sendable () -> Bool
        private let progress: @Sendable (MoveProgress) -> Void

        init(
            _ move: StoreMove, from source: consuming MovingSource, to target: consuming MovingTarget,
            isInterrupted: @escaping @Sendable () -> Bool, progress: @escaping @Sendable (MoveProgress) -> Void
        ) {
            self.source = source
            self.target = target
            pageRows = move.pageRows
            sha256 = move.sha256
            self.isInterrupted = isInterrupted
            self.progress = progress
        }

        func run(at now: Instant) throws(MoveFailure) -> MoveReport {
            let tables = try source.read { connection throws(SQLError) in try connection.movedTables() }
            if case .over(let end) = try target.begin(of: try source.incarnation(), tables, at: now) {
                return .movedBefore(end)
            }
            var found: [MoveReport.Table] = []
            for table in tables where !table.isIdentity { found.append(try copy(table)) }
            for (place, table) in tables.filter({ !$0.isIdentity }).enumerated() {
                found[place].difference = try difference(in: table, of: found[place].source)
                found[place].target = try count(table)
            }
            var report = MoveReport(
                end: .differs, tables: found, sourceChains: try chains(of: tables, isSource: true),
                targetChains: try chains(of: tables, isSource: false), isSourceChanged: false)
            var life: [[SQLValue]] = []
            let identity = tables.first(where: \.isIdentity)
            if let identity { life = try page(of: identity, after: nil) }
            report.isSourceChanged = try source.hasChanged()
            guard report.isSame, let identity else { return report }
            try target.finish(identity, life, at: now)
            target.analyze(tables)
            report.end = .moved
            return report
        }

        private func page(of table: MovedTable, after key: [SQLValue]?) throws(MoveFailure) -> [[SQLValue]] {
            if isInterrupted() { throw .interrupted }
            return try source.read { connection throws(SQLError) in
                try table.page(after: key, limit: pageRows, in: connection)
            }
        }

        private func count(_ table: MovedTable) throws(MoveFailure) -> Int64 {
            try target.ask { connection throws(SQLError) in try connection.number(table.count) }
        }

        /// Copies what is behind the last row that is there.
        private func copy(_ table: MovedTable) throws(MoveFailure) -> MoveReport.Table {
            let total = try source.read { connection throws(SQLError) in try connection.number(table.count) }
            var key = try target.lastKey(of: table)
            let before = key == nil ? 0 : try count(table)
            var copied: Int64 = 0
            while true {
                let rows = try page(of: table, after: key)
                guard let last = rows.last else { break }
                try target.insert(rows, into: table)
                key = table.key(of: last)
                copied += Int64(rows.count)
                progress(MoveProgress(step: .copying, table: table.name, done: before + copied, total: total))
            }
            return MoveReport.Table(name: table.name, source: total, target: 0, copied: copied, difference: nil)
        }

        /// The key of the first row that is not the same on both sides.
        private func difference(in table: MovedTable, of total: Int64) throws(MoveFailure) -> String? {
            var key: [SQLValue]?
            var done: Int64 = 0
            while true {
                let rows = try page(of: table, after: key)
                let theirs = try target.ask { [key] connection throws(SQLError) in
                    try table.page(after: key, limit: max(1, rows.count), in: connection)
                }
                if rows != theirs {
                    let place = zip(rows, theirs).prefix { $0 == $1 }.count
                    return (place < rows.count ? rows[place] : theirs[place]).shownKey(in: table)
                }
                guard let last = rows.last else { return nil }
                key = table.key(of: last)
                done += Int64(rows.count)
                progress(MoveProgress(step: .comparing, table: table.name, done: done, total: total))
            }
        }

        /// Where the chains of one side end.
        private func chains(of tables: [MovedTable], isSource: Bool) throws(MoveFailure) -> MoveReport.Chains {
            var tally = CheckpointTally(sha256: sha256)
            var after: [UInt8] = []
            while true {
                let heads = isSource ? try source.read(headPage(after)) : try target.ask(headPage(after))
                guard let last = heads.last else { break }
                for head in heads { tally.add(head) }
                after = last.id.uuid.bytes
            }
            return MoveReport.Chains(count: tally.consents, events: tally.events, root: tally.root)
        }

        private func headPage(_ after: [UInt8]) -> (borrowing SQLConnection) throws(SQLError) -> [ChainHead] {
            { connection throws(SQLError) in
                let rows = try connection.prepare(MoveQueries.heads)
                try rows.bind(after, 1000)
                var heads: [ChainHead] = []
                while try rows.step() {
                    let id = ConsentID(try rows.identifier())
                    heads.append(ChainHead(id: id, count: rows.integer(), mac: rows.blob()))
                }
                return heads
            }
        }
    }
}

extension [SQLValue] {
    fileprivate func shownKey(in table: MovedTable) -> String { table.shownKey(of: self) }
}

extension SQLConnection {
    fileprivate func number(_ query: SQLQuery) throws(SQLError) -> Int64 {
        let row = try prepare(query)
        return try row.step() ? row.integer() : 0
    }
}

private enum MoveQueries {
    static let heads = SQLQuery("SELECT id, event_count, chain_head FROM consents WHERE id > ? ORDER BY id LIMIT ?")
}
