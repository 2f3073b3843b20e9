// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativePostgres

/// A database on a PostgreSQL server, and how much of it is taken.
package struct PostgresServer: Sendable {
    /// `postgres://user@host:port/database?sslmode=verify-full`, with all that libpq takes there. Never shown: it may hold
    /// a password.
    let url: String
    /// Beside the URL; nil where libpq's own ways (`PGPASSFILE`, peer) are to be gone.
    let password: String?
    /// Connections that write and read; one more tells that the instance lives.
    package let pool: Int
    /// The URL without its password, fit to be shown.
    package let shown: String
    /// What the server's own lists show.
    let applicationName: String

    /// - Throws: `outOfReach` where the URL is none that libpq reads.
    package init(url: String, password: String?, pool: Int, applicationName: String) throws(StoreFailure) {
        do throws(PostgresError) { shown = "\(try PostgresAddress(url: url))" } catch { throw StoreFailure(error) }
        self.url = url
        self.password = password
        self.pool = max(2, pool)
        self.applicationName = applicationName
    }

    /// Threads that write; the others of the pool read.
    var writers: Int { max(1, pool / 2) }
    var readers: Int { max(1, pool - writers) }

    /// A lock is waited for no longer than a caller would wait; a statement that takes longer than any of ours is given
    /// up, and so is the transaction of a process that was stopped in it.
    fileprivate var settings: PostgresSettings {
        PostgresSettings(
            url: url, password: password, applicationName: applicationName, connectTimeout: .seconds(5),
            answerTimeout: .seconds(40), statementTimeout: .seconds(30), lockTimeout: .seconds(10),
            idleInTransactionTimeout: .seconds(30), isPooled: false)
    }

    /// Opens a connection, and makes sure that what it is told to keep is kept.
    func connect() throws(SQLError) -> PostgresConnection {
        do throws(PostgresError) {
            let connection = try PostgresConnection(settings)
            if let obstacle = connection.facts.obstacle { throw PostgresError(.readOnly, detail: obstacle) }
            return connection
        } catch { throw .postgres(error) }
    }
}

extension PostgresFacts {
    /// Why no consents belong there; nil where nothing speaks against it.
    fileprivate var obstacle: String? {
        if isInRecovery { return "it is a replica" }
        if !isDurable { return "fsync or full_page_writes is off, so a crash would lose consents" }
        if encoding != "UTF8" { return "the database is not in UTF8" }
        return nil
    }
}
