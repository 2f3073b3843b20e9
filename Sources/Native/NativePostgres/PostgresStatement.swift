// SPDX-License-Identifier: Apache-2.0
/// One use of a statement that answers rows: bind, step, take the columns from left to right. The first step waits for
/// all of its rows, which come at once.
@safe package struct PostgresStatement: ~Copyable {
    private let use: StatementUse

    // Not inlined, nor are its maker and PostgresLocks: in a release build with testing enabled, such as the benchmarks',
    // the optimizer of Swift 6.3 ends on noncopyable types that are made of a borrowed value (CrossModuleOptimization).
    @inline(never) init(_ query: PostgresQuery, _ session: Session) { use = StatementUse(query, session) }

    /// Gives the parameters their values, first to last.
    package func bind(_ values: any PostgresBindable...) throws(PostgresError) { bind(values) }

    package func bind(_ values: [any PostgresBindable]) { use.values = values }

    /// Goes to the next row.
    /// - Returns: false after the last one.
    /// - Throws: what an earlier statement of the transaction failed with, or this one.
    package func step() throws(PostgresError) -> Bool {
        let rows = try use.answer()
        use.row += 1
        use.column = 0
        return use.row < rows.count
    }

    /// The next column's integer or truth value; 0 where the row holds something else.
    package func integer() -> Int64 { use.take { $0.isNull($1, $2) ? 0 : $0.integer($1, $2) } ?? 0 }

    /// The next column's integer, nil for NULL.
    package func optionalInteger() -> Int64? { use.take { $0.isNull($1, $2) ? nil : $0.integer($1, $2) } }

    /// The next column's text; empty for NULL.
    package func text() -> String { use.take(readText) ?? "" }

    package func optionalText() -> String? { use.take(readText) }

    /// The next column's bytes; empty for NULL.
    package func blob() -> [UInt8] { use.take(readBlob) ?? [] }

    package func optionalBlob() -> [UInt8]? { use.take(readBlob) }
}

private func readText(_ rows: Rows, _ row: Int, _ column: Int32) -> String? {
    rows.isNull(row, column) ? nil : unsafe String(decoding: rows.bytes(row, column), as: UTF8.self)
}

private func readBlob(_ rows: Rows, _ row: Int, _ column: Int32) -> [UInt8]? {
    rows.isNull(row, column) ? nil : unsafe Array(rows.bytes(row, column))
}

/// Where a statement stands in its rows.
private final class StatementUse {
    private let query: PostgresQuery
    private let session: Session
    private var rows: Rows?
    var values: [any PostgresBindable] = []
    var row = -1
    var column: Int32 = 0

    init(_ query: PostgresQuery, _ session: Session) {
        self.query = query
        self.session = session
    }

    func answer() throws(PostgresError) -> Rows {
        if let rows { return rows }
        let answered = try session.ask(query, values)
        rows = answered
        return answered
    }

    /// The next column, or nil outside the rows.
    func take<Value>(_ read: (Rows, Int, Int32) -> Value?) -> Value? {
        defer { column += 1 }
        guard let rows, row >= 0, row < rows.count else { return nil }
        return read(rows, row, column)
    }
}
