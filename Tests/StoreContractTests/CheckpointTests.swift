// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import NativeSQLite
import Testing

@Suite("Checkpoints in any store", .places)
struct CheckpointTests {
    private let hour = Duration.seconds(3600)

    private func signed(_ number: Int64, at: Instant = Make.now, events: Int64 = 0) -> StoredCheckpoint.Signed {
        StoredCheckpoint.Signed(
            checkpoint: Checkpoint(
                number: number, at: at, consents: 1, events: events, root: [UInt8](repeating: 1, count: 32),
                previous: number == 1 ? "" : "p", keyID: "e1"),
            signature: [UInt8](repeating: 2, count: 64))
    }

    @Test("one is begun an hour, however many processes ask, and whatever the clock did", arguments: StoreKind.allCases)
    func beginning(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let stores = [try place.open(), try place.open()]
        let begun = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<20 {
                group.addTask { [hour] in
                    try await stores[number % 2].beginCheckpoint(
                        every: hour, at: Make.now.advanced(by: .milliseconds(number)))
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(begun == 1)
        let first = try #require(try await stores[0].unsignedCheckpoint())
        for (shift, isDue) in [(3599, false), (-3599, false), (-3601, true), (0, true), (3599, false), (3600, true)] {
            let at = first.at.advanced(by: .seconds(shift))
            #expect(try await stores[1].beginCheckpoint(every: hour, at: at) == isDue, "\(shift)")
        }
        #expect(try await stores[0].checkpoints(after: 1, limit: 2).map(\.number) == [2, 3])
        #expect(try await stores[0].checkpoints(after: 3, limit: 10).map(\.number) == [4])
        #expect(try await stores[0].checkpoints(after: 4, limit: 10).isEmpty)
    }

    @Test("each is signed once, and none before a signed one ever again", arguments: StoreKind.allCases)
    func signing(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        #expect(try await store.lastCheckpoint() == nil)
        #expect(try await store.unsignedCheckpoint() == nil)
        for _ in 0..<3 { _ = try await store.beginCheckpoint(every: .zero, at: Make.now) }
        #expect(try await store.unsignedCheckpoint() == StoredCheckpoint(number: 1, at: Make.now, signed: nil))
        #expect(try await store.sign(signed(1)))
        #expect(try await !store.sign(signed(1)))
        #expect(try await !store.sign(signed(9)))
        #expect(try await !store.sign(signed(2, at: Make.now.advanced(by: .seconds(1)))))
        #expect(try await store.lastCheckpoint() == signed(1))
        #expect(try await store.sign(signed(3)))
        #expect(try await store.unsignedCheckpoint() == nil)
        #expect(try await store.lastCheckpoint() == signed(3))
        #expect(try await store.checkpoints(after: 0, limit: 10).map(\.signed) == [signed(1), nil, signed(3)])
    }

    @Test("heads are told as they were when a checkpoint was begun, whatever came later", arguments: StoreKind.allCases)
    func heads(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let (store, other) = (try place.open(), try place.open())
        var ids = [try await store.keepConsent().id, try await other.keepConsent().id].sorted()
        try await other.append(Make.event(.refreshed), to: ids[0])
        var snapshots: [[ChainHead]] = []
        for round in 0..<3 {
            snapshots.append(try await store.ledgerRecords(after: nil, limit: 100).map(\.head))
            _ = try await store.beginCheckpoint(every: .zero, at: Make.now)
            try await other.append(Make.event(.refreshed), to: ids[round % 2])
            if round > 0 { ids.append(try await other.keepConsent().id) }
        }
        for (position, snapshot) in snapshots.enumerated() {
            var (found, after) = ([ChainHead](), ConsentID?.none)
            while true {
                let page = try await store.chainHeads(atCheckpoint: Int64(position + 1), after: after, limit: 2)
                guard let last = page.last else { break }
                found += page.filter { $0.count > 0 }
                after = last.id
            }
            #expect(found.map(\.id) == snapshot.map(\.id))
            #expect(found.map(\.count) == snapshot.map(\.count) && found.map(\.mac) == snapshot.map(\.mac))
        }
        #expect(try await store.chain(of: ids[0]).map(\.period).sorted() == store.chain(of: ids[0]).map(\.period))
        #expect(try await store.chain(of: ids[0]).map(\.period) == [0, 0, 1, 3])
    }

    @Test("a record that is gone is told by its events or by its exchange", arguments: StoreKind.allCases)
    func missing(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let store = try place.open()
        var ids: [ConsentID] = []
        for _ in 0..<3 { ids.append(try await store.keepConsent().id) }
        ids.sort()
        #expect(try await store.missingConsents(limit: 10).isEmpty)
        for id in ids.prefix(2) {
            try place.tamper("DELETE FROM consents WHERE id = x'\(Hexadecimal.text(of: id.uuid.bytes))'")
        }
        try place.tamper(
            "DELETE FROM events WHERE consent_id = x'\(Hexadecimal.text(of: ids[0].uuid.bytes))'")
        #expect(try await store.missingConsents(limit: 10) == Array(ids.prefix(2)))
        #expect(try await store.missingConsents(limit: 1) == [ids[0]])
    }
}
