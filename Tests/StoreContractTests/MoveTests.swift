// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import NativeCrypto
import NativeSystem
import TestServers
import TestSupport
import Testing

@Suite(
    "Moving a file's consents to a server", .places,
    .enabled(if: PostgresDatabase.hasServer, "no server for tests: `bash Tests/run.sh` starts one"))
struct MoveTests {
    /// A filled file that nobody has open any more, and empty tables.
    private struct Ground {
        let source: StorePlace
        let target: StorePlace
        let epoch: StoreEpoch
        let active: ConsentID
        let failing: ConsentID
        let sent: ConsentID
        let withdrawn: ConsentID
        let unsettled: BlindIndex

        init(consents: Int = 0) async throws {
            source = try StorePlace(.sqlite)
            target = try StorePlace(.postgres)
            let store = try source.open()
            guard case .reached(let epoch) = try await store.stepEpoch(from: nil, newborn: Make.uuid(), at: Make.now)
            else { throw Unexpected("no epoch") }
            self.epoch = epoch
            for _ in 0..<consents { _ = try await store.keepConsent() }
            active = try await store.keepConsent().id
            failing = try await store.keepConsent().id
            let refused = Make.attempt()
            _ = try await store.claimRefresh(Make.claim(failing, refused))
            _ = try await store.settleRefresh(
                Make.settlement(failing, refused, .failing(dueAt: Make.now.advanced(by: .seconds(900)))))
            sent = try await store.keepConsent().id
            _ = try await store.claimRefresh(Make.claim(sent, Make.attempt()))
            withdrawn = try await store.keepConsent(Make.consent(providerSubject: nil)).id
            _ = try await store.withdraw(Make.withdrawal(withdrawn, Make.deliveries(of: withdrawn)))
            let code = Make.reservation()
            _ = try await store.reserveCode(code)
            unsettled = code.digest
            _ = try await store.keepGrant()
            try await store.createAPIKey(
                APIKey(
                    name: "backend", digest: Make.index().bytes, scopes: [.consentsRead], createdAt: Make.now,
                    expiresAt: nil))
            _ = try await store.beginCheckpoint(every: .seconds(3600), at: Make.now)
            store.close()
        }

        func move(pageRows: Int = 3) throws -> StoreMove {
            guard case .server(let server) = try target.location() else { throw Unexpected("no server") }
            return StoreMove(
                from: source.path, stateDirectories: [source.stateDirectory], to: server, pageRows: pageRows
            ) { sha256($0) }
        }

        func run(pageRows: Int = 3) async throws -> MoveReport {
            try await move(pageRows: pageRows)(at: Make.now, isInterrupted: { false }, progress: { _ in })
        }
    }

    @Test("every row is there afterwards, the file has not changed by a byte, and a second run has nothing to do")
    func whole() async throws {
        let ground = try await Ground(consents: 5)
        let before = try readFile(at: ground.source.path, limit: 64 << 20).bytes
        let report = try await ground.run()
        #expect(report.end == .moved)
        #expect(report.isSame)
        #expect(report.tables.first { $0.name == "consents" }?.target == 9)
        #expect(report.tables.allSatisfy { $0.source == $0.target && $0.copied == $0.source })
        #expect(report.targetChains.count == 9)
        #expect(try readFile(at: ground.source.path, limit: 64 << 20).bytes == before)
        #expect(try await ground.run().end == .movedBefore(Make.now))
    }

    @Test("the life of the file's store goes on: its epoch, its trails, its keys, and a refresh")
    func goesOn() async throws {
        let ground = try await Ground()
        let old = try ground.source.open()
        let trail = try await old.events(of: ground.withdrawn).map(\.mac)
        let keys = try await old.apiKeys()
        old.close()
        #expect(try await ground.run().end == .moved)
        let store = try ground.target.open()
        #expect(try await store.life().mark?.epoch == ground.epoch)
        #expect(try await store.events(of: ground.withdrawn).map(\.mac) == trail && trail.count == 2)
        #expect(try await store.apiKeys() == keys)
        let attempt = Make.attempt()
        #expect(try await store.claimRefresh(Make.claim(ground.active, attempt)) == .claimed)
        #expect(try await store.saveTokens(Make.tokens(ground.active, attempt)) == .written)
        #expect(try await store.consent(ground.failing)?.record.status == .failing)
        #expect(try await store.consent(ground.withdrawn)?.record.status == .revoked)
        let later = Make.now.advanced(by: .seconds(900))
        #expect(try await store.claimRevocations(limit: 10, lease: .seconds(120), at: later).count == 1)
    }

    @Test("what was interrupted goes on where it stood, and nobody opens what is moved in part")
    func interrupted() async throws {
        let ground = try await Ground(consents: 20)
        let pages = Locked(0)
        await #expect(throws: MoveFailure.interrupted) {
            _ = try await ground.move()(
                at: Make.now,
                isInterrupted: {
                    pages.withLock {
                        $0 += 1; return $0 > 4
                    }
                }, progress: { _ in })
        }
        let failure = #expect(throws: StoreFailure.self) { _ = try ground.target.open() }
        #expect(failure.map { "\($0)".contains("migrate --from") } == true)
        let report = try await ground.run()
        #expect(report.end == .moved)
        #expect(report.tables.first { $0.name == "consents" }?.copied == Int64(12))
        _ = try ground.target.open()
    }

    @Test("a file that changed after a part of it was copied is found, and the tables are not the store")
    func changed() async throws {
        let ground = try await Ground(consents: 20)
        let pages = Locked(0)
        await #expect(throws: MoveFailure.interrupted) {
            _ = try await ground.move()(
                at: Make.now,
                isInterrupted: {
                    pages.withLock {
                        $0 += 1; return $0 > 4
                    }
                }, progress: { _ in })
        }
        let first = try ground.source.number("SELECT count(*) FROM consents")
        #expect(first == 24)
        try ground.source.tamper(
            "UPDATE consents SET tokens_sealed = x'00' WHERE id = (SELECT min(id) FROM consents)")
        let report = try await ground.run()
        #expect(report.end == .differs)
        #expect(report.tables.filter { $0.difference != nil }.map(\.name) == ["consents"])
        #expect(throws: StoreFailure.self) { _ = try ground.target.open() }
    }

    @Test("a chain that went on meanwhile is found by its head")
    func longerChain() async throws {
        let ground = try await Ground(consents: 20)
        let pages = Locked(0)
        await #expect(throws: MoveFailure.interrupted) {
            _ = try await ground.move()(
                at: Make.now,
                isInterrupted: {
                    pages.withLock {
                        $0 += 1; return $0 > 12
                    }
                }, progress: { _ in })
        }
        let store = try ground.source.open()
        try await store.append(Make.event(.refreshed), to: ground.active)
        store.close()
        let report = try await ground.run()
        #expect(report.end == .differs)
        #expect(report.sourceChains.root != report.targetChains.root)
        #expect(report.sourceChains.events == report.targetChains.events + 1)
    }

    @Test("it refuses while a process has the file open, and where the tables hold something else")
    func refused() async throws {
        let ground = try await Ground()
        let alive = try ground.source.open()
        await #expect(throws: MoveFailure.sourceIsInUse(ground.source.stateDirectory + "/instances")) {
            _ = try await ground.run()
        }
        alive.close()
        let other = try ground.target.open()
        _ = try await other.reserveCode(Make.reservation())
        await #expect(throws: MoveFailure.targetIsNotEmpty(table: "code_reservations")) { _ = try await ground.run() }
        other.close()
        try ground.target.tamper("DELETE FROM code_reservations")
        #expect(try await ground.run().end == .moved)
        let another = try await Ground()
        guard case .server(let server) = try ground.target.location() else { throw Unexpected("no server") }
        let second = StoreMove(
            from: another.source.path, stateDirectories: [], to: server, sha256: { sha256($0) })
        await #expect(throws: MoveFailure.targetIsOfAnother) {
            _ = try await second(at: Make.now, isInterrupted: { false }, progress: { _ in })
        }
    }

    @Test("an instance that lives on the tables keeps a move away")
    func targetInUse() async throws {
        let ground = try await Ground()
        let alive = try ground.target.open()
        await #expect(throws: MoveFailure.targetIsInUse) { _ = try await ground.run() }
        alive.close()
    }

    @Test("a grant whose answer was awaited is named unknown by the instances of the server")
    func awaited() async throws {
        let ground = try await Ground()
        _ = try await ground.run()
        #expect(try ground.target.number("SELECT count(*) FROM consents WHERE attempt_phase = 'sent'") == 1)
        // Its owner was of the file, and has left; else it would be taken for alive for some seconds.
        try ground.target.tamper(
            """
            INSERT INTO instances (id, lock_number, seen_at, left_at)
                SELECT attempt_owner, 0, 0, 1 FROM consents WHERE attempt_phase = 'sent'
            """)
        let store = try ground.target.open()
        #expect(try await store.adoptAbandoned(limit: 10, policies: [:], at: Make.now).refreshesNamedUnknown == 1)
    }
}
