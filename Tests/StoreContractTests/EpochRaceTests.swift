// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import ConsentUseCases
import Consents
import NativeSystem
import Observability
import TestSupport
import Testing

@Suite("Processes that keep a store's epoch at the same time", .places)
struct EpochRaceTests {
    @Test("one that goes a step further while another begins does not make the store look older than it is")
    func step() async throws {
        let place = try StorePlace(.sqlite)
        let (own, other) = (try place.open(), try place.open())
        _ = try await own.keepConsent()
        let note = SteppingNote(other)
        _ = try note.read()
        let epoch = KeepEpoch(
            store: own, note: note, time: ManualTime(), entropy: LooseEntropy(),
            log: Log(level: .error, format: .text, sink: MemorySink(), now: { 0 }))
        try await epoch.begin()
        #expect(await epoch.stop == nil)
        #expect(try await own.life().stop == nil)
    }
}

/// A note that another process writes anew whenever it is read.
private final class SteppingNote: EpochNote {
    private let store: SQLStore
    private let marks = Locked<[EpochMark]>([])

    init(_ store: SQLStore) { self.store = store }

    func read() throws(StateFailure) -> EpochMark? {
        let before = marks.withLock { $0.count }
        Task.detached { [store, marks] in
            guard case .reached(let epoch) = try await store.stepEpoch(from: nil, newborn: Make.uuid(), at: Make.now)
            else { return }
            marks.withLock { $0.append(EpochMark(epoch: epoch, at: Make.now)) }
        }
        blockUntil { marks.withLock { $0.count } > before }
        return marks.withLock { $0.last }
    }

    func write(_ mark: EpochMark) throws(StateFailure) {}
}
