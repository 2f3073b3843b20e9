// SPDX-License-Identifier: Apache-2.0
/// How a connection is opened, and what holds in it.
package struct PostgresSettings: Sendable {
    /// `postgres://user@host:port/database?sslmode=verify-full&sslrootcert=…`, with all that libpq takes there
    /// (postgresql.org/docs/15/libpq-connect.html); what it leaves out comes from libpq's own environment variables.
    package var url: String
    /// Beside the URL. Without it libpq looks into `PGPASSWORD` and `PGPASSFILE`, or the server asks for none (peer).
    package var password: String?
    /// What the server's own lists show of this connection.
    package var applicationName: String
    /// How long one host may take to let us in, at least two seconds; then the URL's next one is tried. Looking up a name
    /// is not bounded by it.
    package var connectTimeout: Duration
    /// How long an answer may be waited for before the connection counts as lost. Longer than the time-outs below.
    package var answerTimeout: Duration
    /// After how long the server gives up a statement.
    package var statementTimeout: Duration
    /// After how long the server gives up waiting for a lock.
    package var lockTimeout: Duration
    /// After how long the server ends a connection that has begun a transaction and says no more.
    package var idleInTransactionTimeout: Duration
    /// Between us and the server stands a pooler that lends connections for a transaction each. Then nothing is
    /// prepared, each transaction brings its settings along, and a statement alone is a transaction too. Locks of a
    /// session do not work there.
    package var isPooled: Bool

    package init(
        url: String, password: String?, applicationName: String, connectTimeout: Duration, answerTimeout: Duration,
        statementTimeout: Duration, lockTimeout: Duration, idleInTransactionTimeout: Duration, isPooled: Bool
    ) {
        self.url = url
        self.password = password
        self.applicationName = applicationName
        self.connectTimeout = connectTimeout
        self.answerTimeout = answerTimeout
        self.statementTimeout = statementTimeout
        self.lockTimeout = lockTimeout
        self.idleInTransactionTimeout = idleInTransactionTimeout
        self.isPooled = isPooled
    }

    /// Keywords and values for `PQconnectStartParams`: of two with one keyword the later holds, so that the URL
    /// overrides what stands before it.
    var parameters: [(keyword: String, value: String)] {
        var parameters = [
            ("fallback_application_name", applicationName),
            ("connect_timeout", "\(max(2, connectTimeout.components.seconds))"),
            // A server that has gone is noticed by an idle connection after 25 s, by a waiting one after 20.
            ("keepalives", "1"), ("keepalives_idle", "10"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "20000"),
            ("dbname", url),
        ]
        if let password { parameters.append(("password", password)) }
        // What the program relies on, and every pooler passes on.
        parameters.append(("client_encoding", "UTF8"))
        return parameters
    }

    /// The parameters of `SessionQueries.settings`.
    func values(isLocal: Bool) -> [any PostgresBindable] {
        [
            statementTimeout.milliseconds, lockTimeout.milliseconds, idleInTransactionTimeout.milliseconds,
            isLocal ? "t" : "f",
        ]
    }
}

extension Duration {
    /// As a setting of PostgreSQL: a number with its unit.
    fileprivate var milliseconds: String {
        "\(components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000)ms"
    }
}

/// What the server told when the connection was opened.
package struct PostgresFacts: Sendable, Equatable {
    /// As in `server_version_num`: 150018 is 15.18.
    package var version: Int
    /// It is a replica.
    package var isInRecovery: Bool
    /// It writes to disk what it says it has written (`fsync` and `full_page_writes`).
    package var isDurable: Bool
    /// The connection is encrypted; whether the server was verified is the URL's `sslmode`.
    package var isEncrypted: Bool
    /// `UTF8`, or what the database is in.
    package var encoding: String
    /// The server's process that answered.
    package var process: Int32
    /// Who let us in is not who answered: a pooler stands between.
    package var isBehindPooler: Bool
}

enum SessionQueries {
    /// One statement: behind a pooler it goes along with each BEGIN. A stronger `synchronous_commit` is left as it is.
    static let settings = PostgresQuery(
        """
        SELECT set_config('statement_timeout', $1, $4::boolean), set_config('lock_timeout', $2, $4::boolean),
            set_config('idle_in_transaction_session_timeout', $3, $4::boolean),
            set_config('TimeZone', 'UTC', $4::boolean),
            set_config('standard_conforming_strings', 'on', $4::boolean),
            CASE WHEN current_setting('synchronous_commit') IN ('on', 'remote_apply') THEN ''
                ELSE set_config('synchronous_commit', 'on', $4::boolean) END
        """)
    static let facts = PostgresQuery(
        """
        SELECT current_setting('server_version_num')::bigint, pg_is_in_recovery(),
            current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on',
            current_setting('server_encoding'), pg_backend_pid()::bigint
        """)
    static let process = PostgresQuery("SELECT pg_backend_pid()::bigint")
    static let begin = PostgresQuery("BEGIN ISOLATION LEVEL READ COMMITTED")
    static let beginReading = PostgresQuery("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    static let commit = PostgresQuery("COMMIT")
    static let rollBack = PostgresQuery("ROLLBACK")
    static let mark = PostgresQuery("SAVEPOINT one_write")
    static let release = PostgresQuery("RELEASE SAVEPOINT one_write")
    static let takeBack = PostgresQuery("ROLLBACK TO SAVEPOINT one_write")
}
