// SPDX-License-Identifier: Apache-2.0
internal import CPostgres
internal import Glibc
internal import NativeSystem

/// The one owner of a `PGconn` in pipeline mode: what was sent, and whose answers are still to come
/// (postgresql.org/docs/15/libpq-pipeline-mode.html).
///
/// Whenever answers are taken, all are taken: between two calls the server owes nothing that is not in `expected`.
@safe final class Session {
    /// An answer that is to come.
    enum Expected {
        case preparing(Int, PostgresQuery)
        /// What types the server has found out.
        case describing(Int, PostgresQuery)
        case statement
        /// The one whose rows somebody waits for.
        case wanted
        case commit
        case sync
    }

    let handle: OpaquePointer
    let settings: PostgresSettings
    let parameters = Parameters()
    let notices = Notices()
    private var names = PreparedNames()
    private var expected: [Expected] = []
    /// The first error of this transaction: what comes after it cannot be more than its consequence.
    private(set) var failure: PostgresError?
    /// A transaction was begun and not ended.
    var isInTransaction = false
    private(set) var isLost = false

    init(_ settings: PostgresSettings) throws(PostgresError) {
        unsafe handle = try openHandle(settings)
        self.settings = settings
        unsafe notices.listen(to: handle)
        // From here on `deinit` closes it.
        guard unsafe PQenterPipelineMode(handle) == 1 else { throw PostgresError(.lost) }
    }

    deinit { unsafe PQfinish(handle) }

    // MARK: Sending

    /// Queues a statement; nothing is waited for.
    /// - Throws: the transaction's failure where it has one.
    func send(_ query: PostgresQuery, _ values: [any PostgresBindable], as kind: Expected) throws(PostgresError) {
        if isLost { throw PostgresError(.lost) }
        if let failure { throw failure }
        try parameters.take(values)
        if settings.isPooled {
            let types = parameters.types.map(\.oid)
            let code = unsafe parameters.withArrays { places, lengths, formats in
                unsafe PQsendQueryParams(
                    handle, query.text, Int32(parameters.count), types, places, lengths, formats, 1)
            }
            try queued(code, kind)
        } else {
            let name = try prepare(query)
            let code = unsafe parameters.withArrays { places, lengths, formats in
                unsafe PQsendQueryPrepared(handle, name, Int32(parameters.count), places, lengths, formats, 1)
            }
            try queued(code, kind)
        }
    }

    private func prepare(_ query: PostgresQuery) throws(PostgresError) -> String {
        if let known = names.variant(of: query, parameters.types) { return known.name }
        let new = names.add(query, parameters.types)
        let types = parameters.types.map(\.oid)
        let code = unsafe PQsendPrepare(handle, new.name, query.text, Int32(types.count), types)
        try queued(code, .preparing(new.number, query))
        if parameters.types.contains(.unknown) {
            try queued(unsafe PQsendDescribePrepared(handle, new.name), .describing(new.number, query))
        }
        return new.name
    }

    private func queued(_ code: Int32, _ kind: Expected) throws(PostgresError) {
        guard code == 1 else { throw lose() }
        expected.append(kind)
    }

    // MARK: Waiting

    /// Takes all answers that are to come, up to the statement sent last, inside its transaction.
    /// - Returns: the rows of the statement that is wanted.
    func takeAnswers() throws(PostgresError) -> Rows? {
        guard unsafe PQsendFlushRequest(handle) == 1 else { throw lose() }
        return try drain()
    }

    /// Ends the pipeline and takes all answers: what was sent outside a transaction is committed with it.
    func synchronize() throws(PostgresError) -> Rows? {
        try sync()
        return try drain()
    }

    /// Takes all answers where some are to come, and tells no failure: it is forgotten with its transaction.
    func settle() {
        if !expected.isEmpty, !isLost {
            // Thrown for the last time: whoever takes a transaction back knows that it failed.
            _ = try? synchronize()
        }
        failure = nil
    }

    private func sync() throws(PostgresError) {
        guard !isLost, unsafe PQpipelineSync(handle) == 1 else { throw lose() }
        expected.append(.sync)
    }

    private func drain() throws(PostgresError) -> Rows? {
        var rows: Rows?
        notices.forget()
        var index = 0
        // Grows by a sync where one fails: only behind it the server takes statements again.
        while index < expected.count {
            let next = expected[index]
            index += 1
            do throws(PostgresError) {
                let answer = try answer(to: next)
                if case .wanted = next { rows = answer }
            } catch {
                if isLost { throw fate(of: error, at: index - 1) }
                if failure == nil { failure = error }
                if case .sync? = expected.last {} else { try sync() }
            }
        }
        expected.removeAll(keepingCapacity: true)
        if let failure {
            // What failed is over already where it was COMMIT itself, or a statement alone.
            if !isInTransaction { self.failure = nil }
            throw failure
        }
        if notices.hasGivenUpStandby { throw Session.givenUp }
        return rows
    }

    /// A loss while COMMIT is under way leaves open what became of it, unless an earlier statement has failed.
    private func fate(of error: PostgresError, at index: Int) -> PostgresError {
        defer { expected.removeAll() }
        guard failure == nil,
            let commit = expected.indices.last(where: { if case .commit = expected[$0] { true } else { false } }),
            commit == index || (commit > index && error.sqlState.isEmpty)
        else { return failure ?? error }
        return PostgresError(.commitUnknown, sqlState: error.sqlState)
    }

    private func answer(to expected: Expected) throws(PostgresError) -> Rows? {
        let result = try result()
        if case .sync = expected {
            guard unsafe PQresultStatus(result.handle) == PGRES_PIPELINE_SYNC else { throw unsafe lose(result.handle) }
            isInTransaction = unsafe PQtransactionStatus(handle) != PQTRANS_IDLE
            return nil
        }
        // Behind each statement's answer libpq puts a null.
        defer { unsafe PQclear(PQgetResult(handle)) }
        switch unsafe PQresultStatus(result.handle) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: break
        case PGRES_PIPELINE_ABORTED: return nil
        default: throw unsafe error(of: result.handle)
        }
        switch expected {
        case .preparing(let number, let query): names.makeSure(of: number, query)
        case .describing(let number, let query): names.learn(result.parameterTypes, of: number, query)
        case .commit where unsafe String(cString: PQcmdStatus(result.handle)) != "COMMIT":
            // The server's answer to COMMIT in a transaction that has failed is ROLLBACK.
            throw PostgresError(.other, sqlState: "25P02")
        default: break
        }
        return result
    }

    /// The next answer, waited for as long as the settings allow.
    private func result() throws(PostgresError) -> Rows {
        try waitForInput()
        guard let result = unsafe PQgetResult(handle) else { throw lose() }
        return unsafe Rows(owning: result)
    }

    private func waitForInput() throws(PostgresError) {
        let deadline = MonotonicInstant.now().advanced(by: settings.answerTimeout)
        while true {
            // A failure to write is told by libpq once it has read what the server said before.
            let hasMore = unsafe PQflush(handle) == 1
            guard unsafe PQisBusy(handle) == 1 else { return }
            let events = Int16(POLLIN | (hasMore ? POLLOUT : 0))
            guard unsafe waitForSocket(PQsocket(handle), events, until: deadline) else {
                throw lose("no answer in time")
            }
            guard unsafe PQconsumeInput(handle) == 1 else { return }
        }
    }

    /// Looks whether the connection has ended already: then nothing that is sent now can be done.
    /// - Throws: `.lost`
    func makeSureItStands() throws(PostgresError) {
        // First what the server said last, then the end of it.
        for _ in 0..<2 where unsafe waitForSocket(PQsocket(handle), Int16(POLLIN), until: .now()) {
            guard unsafe PQconsumeInput(handle) == 1 else { throw lose() }
        }
    }

    // MARK: Failing

    private static let givenUp = PostgresError(.commitUnknown, detail: "a standby was not waited for")

    private func error(of result: OpaquePointer) -> PostgresError {
        let state = unsafe field(result, 67)
        // A fatal error ends the connection, whatever its code.
        let severity = unsafe field(result, 86)
        if unsafe PQstatus(handle) == CONNECTION_BAD || severity == "FATAL" || severity == "PANIC" {
            return unsafe lose(result)
        }
        let constraint = unsafe field(result, 110)
        let kind = PostgresError.Kind(sqlState: state)
        if kind == .staleStatement { names.forgetAll() }
        names.forgetUnsure()
        return PostgresError(kind, sqlState: state, constraint: constraint.isEmpty ? nil : constraint)
    }

    @discardableResult
    private func lose(_ result: OpaquePointer) -> PostgresError {
        isLost = true
        let state = unsafe field(result, 67)
        let kind = PostgresError.Kind(sqlState: state)
        return PostgresError(kind == .shuttingDown ? kind : .lost, sqlState: state)
    }

    func lose(_ detail: String = "") -> PostgresError {
        isLost = true
        return PostgresError(.lost, detail: detail)
    }

    // MARK: A script

    /// Runs a script of any number of statements without parameters, outside the pipeline.
    func run(script: String) throws(PostgresError) {
        if isLost { throw PostgresError(.lost) }
        if let failure { throw failure }
        if !expected.isEmpty { _ = try synchronize() }
        notices.forget()
        guard unsafe PQexitPipelineMode(handle) == 1, unsafe PQsendQuery(handle, script) == 1 else { throw lose() }
        var first: PostgresError?
        while true {
            try waitForInput()
            guard let result = unsafe PQgetResult(handle) else { break }
            let rows = unsafe Rows(owning: result)
            switch unsafe PQresultStatus(rows.handle) {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: break
            default: if first == nil { first = unsafe error(of: rows.handle) }
            }
            if isLost { throw first ?? lose() }
        }
        isInTransaction = unsafe PQtransactionStatus(handle) != PQTRANS_IDLE
        guard unsafe PQenterPipelineMode(handle) == 1 else { throw lose() }
        if isInTransaction { failure = first }
        if let first { throw first }
        if notices.hasGivenUpStandby { throw Session.givenUp }
    }
}

/// A field of an error: 67 is the SQLSTATE, 86 the severity in English, 110 the constraint (`PG_DIAG_…` in
/// postgres_ext.h, character literals that Swift does not import). Never the message nor its detail.
private func field(_ result: OpaquePointer, _ code: Int32) -> String {
    unsafe PQresultErrorField(result, code).map { unsafe String(cString: $0) } ?? ""
}

/// What the server says beside its answers. Nothing is printed, and only one thing is of interest: that a commit no longer
/// waits for its standby, which the server tells by a warning beside a good answer.
@safe final class Notices {
    private(set) var hasGivenUpStandby = false

    func listen(to handle: OpaquePointer) {
        let box = unsafe Unmanaged.passUnretained(self).toOpaque()
        _ = unsafe PQsetNoticeReceiver(
            handle,
            { box, result in
                guard let box = unsafe box, let result = unsafe result else { return }
                // 70 is the file of the server's source: its code, 01000, is that of other warnings too.
                guard unsafe field(result, 70) == "syncrep.c" else { return }
                unsafe Unmanaged<Notices>.fromOpaque(box).takeUnretainedValue().hasGivenUpStandby = true
            }, box)
    }

    func forget() { hasGivenUpStandby = false }
}
