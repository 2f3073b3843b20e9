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
    /// A way past the pooler that `url` leads to, which lends connections for a transaction each; nil where there is none
    /// and `url` leads to the server.
    let directURL: String?
    /// Connections that write and read; one more tells that the instance lives.
    package let pool: Int
    /// The URL without its password, fit to be shown.
    package let shown: String
    /// What the server's own lists show.
    let applicationName: String

    /// Whether the URL holds a password, where it ends up in process lists.
    package let hasPasswordInURL: Bool

    /// Whether who the server is is not looked at, on a network's way to it; by either URL.
    package let trustsTheNetwork: Bool

    /// - Parameter directURL: where `url` leads to a pooler in transaction mode, the server's own: for what holds a lock
    ///   for longer than a transaction.
    /// - Throws: `outOfReach` where a URL is none that libpq reads.
    package init(
        url: String, directURL: String? = nil, password: String?, pool: Int, applicationName: String
    ) throws(StoreFailure) {
        do throws(PostgresError) {
            let address = try PostgresAddress(url: url)
            (shown, hasPasswordInURL) = ("\(address)", address.hasPassword)
            let direct = try directURL.map { url throws(PostgresError) in try PostgresAddress(url: url) }
            trustsTheNetwork = address.trustsTheNetwork || direct?.trustsTheNetwork == true
        } catch { throw StoreFailure(error) }
        self.url = url
        self.directURL = directURL
        self.password = password
        self.pool = max(2, pool)
        self.applicationName = applicationName
    }

    /// Threads that write; the others of the pool read.
    var writers: Int { max(1, pool / 2) }
    var readers: Int { max(1, pool - writers) }

    /// A lock is waited for no longer than a caller would wait; a statement that takes longer than any of ours is given
    /// up, and so is the transaction of a process that was stopped in it.
    private func settings(isDirect: Bool) -> PostgresSettings {
        PostgresSettings(
            url: isDirect ? directURL ?? url : url, password: password, applicationName: applicationName,
            connectTimeout: .seconds(5),
            answerTimeout: .seconds(40), statementTimeout: .seconds(30), lockTimeout: .seconds(10),
            idleInTransactionTimeout: .seconds(30), isPooled: !isDirect && directURL != nil)
    }

    /// Opens a connection, and makes sure that what it is told to keep is kept.
    func connect() throws(SQLError) -> PostgresConnection { try connect(isDirect: false) }

    /// Past the pooler, where there is one: what is locked on it stays locked until it is closed.
    func connectDirectly() throws(SQLError) -> PostgresConnection { try connect(isDirect: true) }

    private func connect(isDirect: Bool) throws(SQLError) -> PostgresConnection {
        do throws(PostgresError) {
            let connection = try open(settings(isDirect: isDirect))
            if let obstacle = connection.facts.obstacle { throw PostgresError(.readOnly, detail: obstacle) }
            return connection
        } catch { throw .postgres(error) }
    }

    /// - Throws: also where a pooler in transaction mode stands between that was not told of.
    private func open(_ settings: PostgresSettings) throws(PostgresError) -> PostgresConnection {
        do throws(PostgresError) {
            let connection = try PostgresConnection(settings)
            if !settings.isPooled, connection.facts.isBehindPooler, try isLent(connection.facts.process, settings) {
                throw poolerFound
            }
            return connection
        } catch {
            // A statement of that name was there already (42P05), or was gone: another one's session.
            let isForeign = error.sqlState == "42P05" || error.sqlState == "26000"
            throw isForeign && !settings.isPooled ? poolerFound : error
        }
    }

    /// Whether the server's process that has just answered one connection, which is still open, now answers another.
    private func isLent(_ process: Int32, _ settings: PostgresSettings) throws(PostgresError) -> Bool {
        var settings = settings
        settings.isPooled = true
        return try PostgresConnection(settings).facts.process == process
    }

    private var poolerFound: PostgresError {
        PostgresError(
            .settings,
            detail: directURL == nil
                ? "a pooler in transaction mode stands before the server: give the server's own address as "
                    + "store.direct_url, beside the pooler's as store.url"
                : "store.direct_url leads to a pooler in transaction mode: give the server's own address, or that of a "
                    + "pooler in session mode")
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
