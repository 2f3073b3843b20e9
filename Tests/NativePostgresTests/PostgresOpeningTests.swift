// SPDX-License-Identifier: Apache-2.0
import Glibc
import NativePostgres
import NativeSystem
import TestServers
import TestSupport
import Testing

@Suite("Connecting to PostgreSQL")
struct PostgresOpeningTests {
    private func failure(_ url: String, _ password: String? = nil) async throws -> PostgresError? {
        try await onOwnThread {
            do throws(PostgresError) {
                _ = try PostgresConnection(.forTests(url, password: password))
                return nil
            } catch { return error }
        }
    }

    @Test("a URL that cannot be read is told without a word of it")
    func badURLs() async throws {
        for url in ["sqlite:a.db", "postgres://u:secret@h:1/d%zz", "postgres://u@h/d?secret", ""] {
            let error = try await failure(url)
            #expect(error?.kind == .settings)
            #expect(error?.description.contains("secret") == false)
        }
    }

    @Test("a database's address can be shown without the password that its URL holds")
    func address() throws {
        let address = try PostgresAddress(url: "postgres://u:secret@h:5433/d?sslmode=verify-full")
        #expect(address.description == "postgres://u@h:5433/d")
        #expect(address.hasPassword)
        #expect(address.sslMode == "verify-full")
        #expect(try !PostgresAddress(url: "postgresql://h/d").hasPassword)
        for url in ["postgres://h/d", "postgres://localhost,h/d?sslmode=require", "postgres://h/d?sslmode=verify-ca"] {
            #expect(try PostgresAddress(url: url).trustsTheNetwork, "\(url)")
        }
        for url in ["postgres://h/d?sslmode=verify-full", "postgres://localhost/d", "postgres:///d?host=/run/pg"] {
            #expect(try !PostgresAddress(url: url).trustsTheNetwork, "\(url)")
        }
    }

    @Test("a server that is not there is out of reach", .enabled(if: PostgresSchema.hasServer))
    func nobody() async throws {
        // Port 1 of the loopback address: nobody listens there.
        let error = try await failure("postgres://u:secret@127.0.0.1:1/d", "hunter2 canary")
        #expect(error?.kind == .unreachable)
        #expect(error?.description.contains("127.0.0.1") == true)
        #expect(error?.description.contains("secret") == false)
    }

    @Test(
        "passwords come from the settings or a file, and a wrong one is not told; the server's word for who we are too",
        .enabled(if: PostgresSchema.hasServer))
    func passwords() async throws {
        let cluster = try await PostgresCluster(["password=right canary", "fsync=off"])
        let (url, folder) = (cluster.url, cluster.folder)
        #expect(try await failure(url, "right canary") == nil)
        for wrong in ["wrong canary", "tester", "postgres"] {
            let error = try await failure(url, wrong)
            #expect(error?.kind == .notAdmitted)
            #expect(error?.description.contains(wrong) == false)
        }
        #expect(try await failure(url)?.kind == .notAdmitted)

        let file = "\(folder)/passwords"
        try createFile(Array("127.0.0.1:*:*:tester:right canary\n".utf8), at: file, permissions: 0o600)
        #expect(try await failure("\(url)?passfile=\(file)") == nil)

        try replaceFile(Array("local all all peer\n".utf8), at: "\(folder)/data/pg_hba.conf", permissions: 0o644)
        let user = unsafe String(cString: getpwuid(getuid()).pointee.pw_name)
        try await onOwnThread {
            try PostgresConnection(.forTests(url, password: "right canary")).execute("CREATE ROLE \"\(user)\" LOGIN")
        }
        try await cluster.restart()
        let socket = "postgres:///postgres?host=\(folder)&port=\(cluster.port)"
        #expect(try await failure("\(socket)&user=\(user)") == nil)
        #expect(try await failure("\(socket)&user=tester")?.kind == .notAdmitted)
    }

    @Test("a server is verified by its certificate and its name", .enabled(if: PostgresSchema.hasServer))
    func verification() async throws {
        let cluster = try await PostgresCluster(["tls=on", "fsync=off"])
        let (url, root) = (cluster.url, "\(cluster.folder)/root.crt")
        try await onOwnThread {
            let connection = try PostgresConnection(.forTests("\(url)?sslmode=verify-full&sslrootcert=\(root)"))
            #expect(connection.facts.isEncrypted)
            try connection.begin()
            try connection.run(PostgresQuery("CREATE TABLE t (a bytea)"))
            let insert = PostgresQuery("INSERT INTO t VALUES ($1)")
            for byte in 0..<20 { try connection.run(insert, [UInt8](repeating: UInt8(byte), count: 1 << 18)) }
            try connection.commit()
            let rows = connection.prepare(PostgresQuery("SELECT a FROM t ORDER BY a"))
            for byte in 0..<20 {
                #expect(try rows.step())
                #expect(rows.blob() == [UInt8](repeating: UInt8(byte), count: 1 << 18))
            }
            try #expect(!PostgresConnection(.forTests("\(url)?sslmode=disable")).facts.isEncrypted)
        }
        // The same server by a name that its certificate does not have.
        let other = url.split(separator: "127.0.0.1").joined(separator: "localhost")
        let error = try await failure("\(other)?sslmode=verify-full&sslrootcert=\(root)&hostaddr=127.0.0.1")
        #expect(error?.kind == .unreachable)
        #expect(try await failure("\(other)?sslmode=verify-ca&sslrootcert=\(root)&hostaddr=127.0.0.1") == nil)
        let foreign = try await PostgresCluster(["tls=on", "fsync=off"])
        let refused = try await failure("\(url)?sslmode=verify-ca&sslrootcert=\(foreign.folder)/root.crt")
        #expect(refused?.kind == .unreachable)
    }

    @Test(
        "after a stop or a kill of the server connections are lost, and new ones work once it is back",
        .enabled(if: PostgresSchema.hasServer))
    func restarting() async throws {
        let cluster = try await PostgresCluster()
        let url = cluster.url
        let count = PostgresQuery("SELECT count(*) FROM t")
        try await onOwnThread { try PostgresConnection(.forTests(url)).execute("CREATE TABLE t (a bigint)") }
        for kills in [false, true] {
            let (isOpen, isDown) = (Locked(false), Locked(false))
            async let end = onOwnThread {
                let connection = try PostgresConnection(.forTests(url))
                try connection.begin()
                try connection.run(PostgresQuery("INSERT INTO t VALUES (1)"))
                #expect(try connection.prepare(count).step())
                isOpen.withLock { $0 = true }
                blockUntil { isDown.withLock { $0 } }
                return #expect(throws: PostgresError.self) { try connection.commit() }
            }
            try await onOwnThread { blockUntil { isOpen.withLock { $0 } } }
            if kills { try await cluster.kill() } else { try await cluster.stop() }
            #expect(try await failure(url)?.kind == .unreachable)
            isDown.withLock { $0 = true }
            #expect([.lost, .shuttingDown].contains(try await end?.kind))
            try await cluster.start()
            try await onOwnThread {
                let row = try PostgresConnection(.forTests(url)).prepare(count)
                #expect(try row.step())
                #expect(row.integer() == 0)
            }
        }
    }

    @Test(
        "a commit that no longer waits for its standby is of unknown fate, though the row is there",
        .enabled(if: PostgresDatabase.hasServer), arguments: [true, false])
    func standby(_ isAlone: Bool) async throws {
        let cluster = try await PostgresCluster(["fsync=off", "synchronous_standby_names=nobody"])
        let url = cluster.url
        try await onOwnThread {
            try PostgresConnection(.forTests(url)).execute("SET synchronous_commit = local; CREATE TABLE t (a bigint)")
        }
        let insert = PostgresQuery("INSERT INTO t VALUES (1)")
        async let end = onOwnThread {
            let connection = try PostgresConnection(.forTests(url))
            let error = #expect(throws: PostgresError.self) {
                if isAlone { return try connection.run(insert) }
                try connection.begin()
                try connection.run(insert)
                try connection.commit()
            }
            #expect(connection.isUsable == true)
            #expect(connection.isOutsideTransaction == true)
            return error
        }
        try await onOwnThread {
            let other = try PostgresConnection(.forTests(url))
            let give = PostgresQuery("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
            blockUntil { (try? other.prepare(give).step()) == true }
            // Seen by others a little after it was given up.
            let row = PostgresQuery("SELECT FROM t")
            blockUntil { (try? other.prepare(row).step()) == true }
            #expect(try other.prepare(row).step())
        }
        #expect(try await end == PostgresError(.commitUnknown, detail: "a standby was not waited for"))
    }
}
