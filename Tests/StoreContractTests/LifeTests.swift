// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import ConsentUseCases
import Consents
import NativeSystem
import Observability
import TestSupport
import Testing

@Suite("The lives of any store", .places)
struct LifeTests {
    @Test("an epoch goes up by one, in one life, for all instances", arguments: StoreKind.allCases)
    func steps(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let (first, second) = (try place.open(), try place.open())
        #expect(try await first.life() == StoreLife(mark: nil, stop: nil, acceptedAt: nil))
        let life = Make.uuid()
        #expect(try await first.stepEpoch(from: nil, newborn: life, at: Make.now) == .reached(epoch(life, 1)))
        #expect(try await second.stepEpoch(from: nil, newborn: Make.uuid(), at: Make.now) == .reached(epoch(life, 2)))
        #expect(
            try await first.stepEpoch(from: epoch(life, 1), newborn: Make.uuid(), at: later) == .reached(epoch(life, 3))
        )
        _ = try await first.keepConsent()
        let mark = EpochMark(epoch: epoch(life, 3), at: later)
        #expect(try await second.life() == StoreLife(mark: mark, stop: nil, acceptedAt: nil))
    }

    @Test("a store that went back takes no claim of anybody until it is accepted", arguments: StoreKind.allCases)
    func wentBack(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let (first, second) = (try place.open(), try place.open())
        let id = try await first.keepConsent().id
        let life = Make.uuid()
        _ = try await first.stepEpoch(from: nil, newborn: life, at: Make.now)
        let answer = try await first.stepEpoch(from: epoch(life, 7), newborn: Make.uuid(), at: later)
        #expect(answer == .stopped(.wentBack))
        for store in [first, second] {
            #expect(try await store.claimRefresh(Make.claim(id, Make.attempt())) == .refreshingStopped)
        }
        try await second.stopRefreshing(.behindStateFolder, at: later)
        #expect(try await second.life().stop == .wentBack, "the first reason stays")
        #expect(try await second.stepEpoch(from: nil, newborn: Make.uuid(), at: later) == .stopped(.wentBack))
        let next = epoch(Make.uuid(), 9)
        try await second.acceptStore(as: next, at: later)
        #expect(
            try await first.life()
                == StoreLife(
                    mark: EpochMark(epoch: next, at: later), stop: nil, acceptedAt: later))
        #expect(try await second.claimRefresh(Make.claim(id, Make.attempt())) == .claimed)
    }

    @Test(
        "an instance finds its own step gone, though another has stepped on since and the count looks whole",
        arguments: StoreKind.allCases)
    func wentBackUnderAnother(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let (first, second) = (try place.open(), try place.open())
        let id = try await first.keepConsent().id
        let life = Make.uuid()
        _ = try await first.stepEpoch(from: nil, newborn: life, at: Make.now)
        _ = try await second.stepEpoch(from: nil, newborn: life, at: Make.now)
        let last = try await first.stepEpoch(from: epoch(life, 1), newborn: life, at: later)
        #expect(last == .reached(epoch(life, 3)))
        // What a replica has that did not get the last step.
        try place.tamper("UPDATE store_identity SET epoch = 2; UPDATE epoch_steps SET epoch = 1 WHERE epoch = 3")
        let other = try await second.stepEpoch(from: epoch(life, 2), newborn: life, at: later)
        #expect(other == .reached(epoch(life, 3)))
        #expect(try await first.claimRefresh(Make.claim(id, Make.attempt())) == .refreshingStopped)
        let answer = try await first.stepEpoch(from: epoch(life, 3), newborn: life, at: later)
        #expect(answer == .stopped(.wentBack))
        #expect(try await second.claimRefresh(Make.claim(id, Make.attempt())) == .refreshingStopped)
    }

    @Test("what an instance has seen of the store is a condition of its claims", arguments: StoreKind.allCases)
    func claimsOfTheUnknowing(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let (serving, operating) = (try place.open(), try place.open())
        let id = try await serving.keepConsent().id
        let life = Make.uuid()
        _ = try await serving.stepEpoch(from: nil, newborn: life, at: Make.now)
        try await operating.acceptStore(as: epoch(Make.uuid(), 2), at: later)
        #expect(try await serving.claimRefresh(Make.claim(id, Make.attempt())) == .refreshingStopped)
        let answer = try await serving.stepEpoch(from: epoch(life, 1), newborn: Make.uuid(), at: later)
        #expect(answer != .reached(epoch(life, 2)))
        _ = try await serving.stepEpoch(from: nil, newborn: Make.uuid(), at: later)
        #expect(try await serving.claimRefresh(Make.claim(id, Make.attempt())) == .claimed)
    }

    @Test("what is neither withdrawn nor superseded is gone through in pages", arguments: StoreKind.allCases)
    func glances(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        var kept: [ConsentID] = []
        for number in 0..<5 {
            let consent = Make.consent(at: Make.now.advanced(by: .seconds(number)))
            kept.append(try await store.keepConsent(consent).id)
        }
        _ = try await store.withdraw(Make.withdrawal(kept[2], []))
        kept.remove(at: 2)
        let attempt = Make.attempt()
        _ = try await store.claimRefresh(Make.claim(kept[1], attempt))
        let first = try await store.glances(after: nil, limit: 3)
        #expect(first.map(\.id) == Array(kept[..<3]))
        #expect(try await store.glances(after: kept[2], limit: 3).map(\.id) == [kept[3]])
        #expect(first[1].status == .active)
        #expect(first[1].dueAt == Make.timing(Make.now.advanced(by: .seconds(1))).dueAt, "not the lease's end")
    }

    @Test(
        "processes that begin and step on side by side do not take the store for a copy",
        arguments: StoreKind.allCases)
    func manyBegin(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let note = SharedNote()
        let log = Log(level: .error, format: .text, sink: MemorySink(), now: { 0 })
        _ = try await place.open().keepConsent()
        let stores = try (0..<6).map { _ in try place.open() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in stores {
                group.addTask {
                    for _ in 0..<20 {
                        let epochs = KeepEpoch(
                            store: store, note: note, time: place.clock, entropy: LooseEntropy(), log: log)
                        try await epochs.begin()
                        await epochs.end()
                        #expect(await epochs.stop == nil)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await stores[0].life().stop == nil)
    }

    private let later = Make.now.advanced(by: .seconds(60))

    private func epoch(_ life: UUIDv7, _ number: Int64) -> StoreEpoch { StoreEpoch(incarnation: life, number: number) }
}

/// One state folder's note, read and written by all.
private final class SharedNote: EpochNote {
    private let mark = Locked<EpochMark?>(nil)

    func read() throws(StateFailure) -> EpochMark? { mark.withLock { $0 } }
    func write(_ mark: EpochMark) throws(StateFailure) { self.mark.withLock { $0 = mark } }
}
