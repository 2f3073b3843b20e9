// SPDX-License-Identifier: Apache-2.0
internal import Consents

/// A table as the file's schema has it: all of its columns, and the primary key that its rows are walked by. Both kinds
/// of store sort keys byte by byte, and have the same columns.
struct MovedTable: Sendable {
    struct Column: Sendable {
        let name: String
        let kind: SQLKind
    }

    let name: String
    let columns: [Column]
    /// Places in `columns`, in the key's order.
    private let keyPlaces: [Int]
    let count: SQLQuery
    let lastKey: SQLQuery
    let insert: SQLQuery
    private let firstPage: SQLQuery
    private let nextPage: SQLQuery

    /// - Parameter keyPlaces: of the primary key's columns, in its order; at least one.
    init(name: String, columns: [Column], keyPlaces: [Int]) {
        self.name = name
        self.columns = columns
        self.keyPlaces = keyPlaces
        let all = MovedTable.list(columns.map(\.name))
        let key = MovedTable.list(keyPlaces.map { columns[$0].name })
        count = SQLQuery("SELECT count(*) FROM \(name)")
        firstPage = SQLQuery("SELECT \(all) FROM \(name) ORDER BY \(key) LIMIT ?")
        nextPage = SQLQuery(
            "SELECT \(all) FROM \(name) WHERE (\(key)) > (\(MovedTable.marks(keyPlaces.count))) ORDER BY \(key) LIMIT ?"
        )
        let downwards = keyPlaces.map { "\"\(columns[$0].name)\" DESC" }.joined(separator: ", ")
        lastKey = SQLQuery("SELECT \(key) FROM \(name) ORDER BY \(downwards) LIMIT 1")
        insert = SQLQuery("INSERT INTO \(name) (\(all)) VALUES (\(MovedTable.marks(columns.count)))")
    }

    private static func list(_ names: [String]) -> String { names.map { "\"\($0)\"" }.joined(separator: ", ") }
    private static func marks(_ count: Int) -> String { repeatElement("?", count: count).joined(separator: ", ") }

    var keyColumns: [Column] { keyPlaces.map { columns[$0] } }

    func key(of row: [SQLValue]) -> [SQLValue] { keyPlaces.map { row[$0] } }

    /// The key as people are told it: a consent's as everywhere, other bytes in hexadecimal digits.
    func shownKey(of row: [SQLValue]) -> String {
        key(of: row).map { value in
            switch value {
            case .integer(let number): "\(number)"
            case .text(let text): text
            case .blob(let bytes):
                bytes.count == 16
                    ? UUIDv7(bytes: bytes).map { "\(ConsentID($0))" } ?? Hexadecimal.text(of: bytes)
                    : Hexadecimal.text(of: bytes)
            case .null, .words: "-"
            }
        }.joined(separator: " ")
    }

    /// Rows in the order of their keys, those behind `key`.
    func page(after key: [SQLValue]?, limit: Int, in connection: borrowing SQLConnection) throws(SQLError)
        -> [[SQLValue]]
    {
        let rows = try connection.prepare(key == nil ? firstPage : nextPage)
        try rows.bind(all: (key ?? []).map(CopiedValue.init) + [CopiedValue(.integer(Int64(limit)))])
        var page: [[SQLValue]] = []
        while try rows.step() { page.append(columns.map { rows.value($0.kind) }) }
        return page
    }
}

/// A column's value on its way from one store to the other.
struct CopiedValue: SQLBindable {
    /// Of no meaning: each value brings its own.
    static var sqlKind: SQLKind { .blob }
    let sqlValue: SQLValue

    init(_ value: SQLValue) { sqlValue = value }
}

extension SQLStatement {
    /// The next column's value; a text as both stores can hold it.
    func value(_ kind: SQLKind) -> SQLValue {
        switch kind {
        case .integer: optionalInteger().map { .integer($0) } ?? .null(.integer)
        case .text: optionalText().map { .text(storableText($0)) } ?? .null(.text)
        case .blob: optionalBlob().map { .blob($0) } ?? .null(.blob)
        }
    }
}

extension SQLConnection {
    /// The tables of a file's schema that are moved, in the order in which they were made.
    func movedTables() throws(SQLError) -> [MovedTable] {
        var names: [String] = []
        do {
            let rows = try prepare(MovedTableQueries.names)
            while try rows.step() { names.append(rows.text()) }
        }
        var tables: [MovedTable] = []
        for name in names { tables.append(try movedTable(name)) }
        return tables
    }

    private func movedTable(_ name: String) throws(SQLError) -> MovedTable {
        let rows = try prepare(MovedTableQueries.columns)
        try rows.bind(name)
        var columns: [MovedTable.Column] = []
        var places: [(rank: Int64, place: Int)] = []
        while try rows.step() {
            let (name, type, rank) = (rows.text(), rows.text(), rows.integer())
            let kind: SQLKind? =
                switch type {
                case "INTEGER": .integer
                case "TEXT": .text
                case "BLOB": .blob
                default: nil
                }
            guard let kind else { throw .corrupt }
            if rank > 0 { places.append((rank, columns.count)) }
            columns.append(MovedTable.Column(name: name, kind: kind))
        }
        guard !places.isEmpty else { throw .corrupt }
        return MovedTable(
            name: name, columns: columns, keyPlaces: places.sorted { $0.rank < $1.rank }.map(\.place))
    }
}

private enum MovedTableQueries {
    static let names = SQLQuery(
        """
        SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'schema_migrations'
        ORDER BY rowid
        """)
    static let columns = SQLQuery("SELECT name, type, pk FROM pragma_table_info(?) ORDER BY cid")
}
