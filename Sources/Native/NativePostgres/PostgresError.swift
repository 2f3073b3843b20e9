// SPDX-License-Identifier: Apache-2.0
/// What went wrong, by what to do next. It has the server's five-letter code and the name of a constraint, never the
/// server's sentence or detail, which quote rows and parameters (postgresql.org/docs/15/errcodes-appendix.html).
package struct PostgresError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Kind: Sendable, Equatable {
        /// The settings cannot be read; nothing was tried.
        case settings
        /// No connection was made: unreachable, refused, a certificate that is not trusted.
        case unreachable
        /// The server knows no such user, password or database, or lets it not in.
        case notAdmitted
        /// The server takes no more connections (53300).
        case tooManyConnections
        /// The connection ended or was silent for too long: what was not committed is taken back.
        case lost
        /// The server is shutting down, starting up, or ended this connection (57P01, 57P02, 57P03).
        case shuttingDown
        /// The connection ended after COMMIT was sent and before its answer came, or the server no longer waited for a
        /// standby: it may be written or not, or be lost in a failover.
        case commitUnknown
        /// Another transaction was in the way (40001, 40P01): the whole transaction again.
        case conflict
        /// A lock was not had in time (55P03).
        case lockTimeout
        /// The statement took too long or was cancelled (57014).
        case cancelled
        /// A row with that key is there (23505).
        case unique
        /// Another rule of the schema (class 23).
        case constraint
        /// The server is a replica, or takes reads only (25006).
        case readOnly
        /// No space on the server's disk (53100).
        case diskFull
        /// Memory or another means of the server (class 53).
        case resources
        /// The prepared statement is no longer there or no longer fits the schema (26000, 0A000): the whole transaction
        /// again, it will be prepared anew.
        case staleStatement
        /// A value that the server cannot take (class 22), such as a text with U+0000.
        case value
        /// The database is damaged (XX001, XX002, 58030), or a row holds what nobody can have written.
        case damaged
        /// A statement that does not fit the schema: a table or right that is not there (class 42).
        case schema
        case other
    }

    package let kind: Kind
    /// Five characters; empty where it is not the server that says so.
    package let sqlState: String
    /// The constraint that was broken.
    package let constraint: String?
    /// Of a connection that could not be made: libpq's sentence without the password. Else a fixed one or nothing.
    package let detail: String

    package init(_ kind: Kind, sqlState: String = "", constraint: String? = nil, detail: String = "") {
        self.kind = kind
        self.sqlState = sqlState
        self.constraint = constraint
        self.detail = detail
    }

    /// Rows that hold what nobody can have written there.
    package static let corrupt = PostgresError(.damaged, detail: "a row holds what was never written")

    package var description: String {
        var text = kind.sentence
        if let constraint { text += ": \(constraint)" }
        if !detail.isEmpty { text += ": \(detail)" }
        return sqlState.isEmpty ? text : "\(text) (SQLSTATE \(sqlState))"
    }
}

extension PostgresError.Kind {
    /// What a code of the server means.
    init(sqlState: String) {
        switch sqlState {
        case "40001", "40P01": self = .conflict
        case "55P03": self = .lockTimeout
        case "57014": self = .cancelled
        case "57P01", "57P02", "57P03": self = .shuttingDown
        case "23505": self = .unique
        case "25006": self = .readOnly
        case "53100": self = .diskFull
        case "53300": self = .tooManyConnections
        case "26000", "0A000": self = .staleStatement
        case "XX001", "XX002", "58030": self = .damaged
        case "3D000", "0LP01": self = .notAdmitted
        case "25P03", "57P04", "57P05": self = .lost
        default: self = PostgresError.Kind(classOf: sqlState.prefix(2))
        }
    }

    private init(classOf code: Substring) {
        switch code {
        case "08": self = .lost
        case "22": self = .value
        case "23": self = .constraint
        case "28": self = .notAdmitted
        case "40": self = .conflict
        case "42", "3F": self = .schema
        case "53", "54": self = .resources
        default: self = .other
        }
    }

    fileprivate var sentence: String {
        switch self {
        case .settings: "the settings of the database cannot be read"
        case .unreachable: "the database server cannot be reached"
        case .notAdmitted: "the database server does not let us in"
        case .tooManyConnections: "the database server takes no more connections"
        case .lost: "the connection to the database server was lost"
        case .shuttingDown: "the database server is shutting down or starting up"
        case .commitUnknown: "whether the database server has committed is unknown"
        case .conflict: "another transaction was in the way"
        case .lockTimeout: "a lock was not had in time"
        case .cancelled: "the statement took too long or was cancelled"
        case .unique: "a row with that key is there"
        case .constraint: "a rule of the schema refuses the row"
        case .readOnly: "the database server takes no writes"
        case .diskFull: "the database server's disk is full"
        case .resources: "the database server lacks means"
        case .staleStatement: "a prepared statement no longer fits"
        case .value: "the database server cannot take a value"
        case .damaged: "the database is damaged"
        case .schema: "a statement does not fit the schema"
        case .other: "the database server refuses"
        }
    }
}
