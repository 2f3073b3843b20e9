// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import NativeSQLite
import Testing

@Suite("Evidence in any store", .places)
struct EvidenceTests {
    @Test("reading is told once a caller and day, whoever reads", arguments: StoreKind.allCases)
    func once(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let stores = [try place.open(), try place.open()]
        let id = try await stores[0].keepConsent().id
        let midnight = Make.now.advanced(by: .seconds(-3600))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                let store = stores[number % 2]
                group.addTask { try await store.appendOnce(Make.event(.profileRead), to: id, since: midnight) }
            }
            try await group.waitForAll()
        }
        #expect(try await types(id, stores[0]) == [.created, .profileRead])
        var other = Make.event(.profileRead)
        other.caller = "backend \"2\"\u{0}"
        for _ in 0..<2 { try await stores[0].appendOnce(other, to: id, since: midnight) }
        for _ in 0..<2 { try await stores[1].appendOnce(Make.event(.tokenRead), to: id, since: midnight) }
        #expect(try await types(id, stores[0]) == [.created, .profileRead, .profileRead, .tokenRead])
        // The next day.
        let nextDay = Make.now.advanced(by: .seconds(86_400 - 3600))
        let later = Make.event(.profileRead, at: nextDay.advanced(by: .seconds(1)))
        for _ in 0..<2 { try await stores[1].appendOnce(later, to: id, since: nextDay) }
        #expect(try await types(id, stores[0]) == [.created, .profileRead, .profileRead, .tokenRead, .profileRead])
    }

    @Test("any type can be told once, and another consent's events do not count", arguments: StoreKind.allCases)
    func others(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let ids = [try await store.keepConsent().id, try await store.keepConsent().id]
        for id in ids {
            for _ in 0..<2 {
                for type in [EventType.codeOfOtherSubject, .tokenRead] {
                    try await store.appendOnce(Make.event(type), to: id, since: Make.now)
                }
            }
            #expect(try await types(id, store) == [.created, .codeOfOtherSubject, .tokenRead])
        }
        try await store.appendOnce(Make.event(.tokenRead), to: ConsentID(Make.uuid()), since: Make.now)
    }

    @Test("no reading is written down on a record that has nothing to read any more", arguments: StoreKind.allCases)
    func ended(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let stores = [try place.open(), try place.open()]
        let id = try await stores[0].keepConsent().id
        for answer in [WriteAnswer.written, .alreadyWritten] {
            let read = Make.event(.profileRead)
            #expect(try await stores[0].appendOnce(read, to: id, since: Make.now) == answer)
        }
        #expect(try await stores[1].withdraw(Make.withdrawal(id, [])) == .withdrawn)
        for type in [EventType.profileRead, .tokenRead] {
            #expect(try await stores[0].appendOnce(Make.event(type), to: id, since: Make.now) == .ended)
        }
        #expect(try await types(id, stores[0]) == [.created, .profileRead, .revoked])
        // The profile of an expired record stays readable, its token does not.
        let lapsed = try await stores[0].keepConsent().id
        _ = try await stores[0].expire(lapsed, generation: 1, at: Make.now, event: Make.event(.expired))
        for type in [EventType.profileRead, .tokenRead] {
            try await stores[0].appendOnce(Make.event(type), to: lapsed, since: Make.now)
        }
        #expect(try await types(lapsed, stores[0]) == [.created, .expired, .profileRead])
    }

    @Test("a chain of a thousand events is made again from its bytes, link by link", arguments: StoreKind.allCases)
    func chain(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let store = try place.open()
        let id = try await store.keepConsent().id
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1..<1000 {
                let event = Make.event(.refreshed, data: ["n": .integer(Int64(number)), "t": .text("ä\u{0}\"")])
                group.addTask { try await store.append(event, to: id) }
            }
            try await group.waitForAll()
        }
        let links = try await store.chain(of: id)
        #expect(links.map(\.sequence) == Array(1...1000))
        let head = try #require(try await store.ledgerRecords(after: nil, limit: 10).first?.head)
        #expect(head.id == id && head.count == 1000 && head.mac == links.last?.mac)
        #expect(firstBroken(links) == nil)
        // An altered byte shows where it lies.
        try place.tamper(
            "UPDATE events SET canonical = replace(canonical, 'backend', 'bakkend') WHERE seq = 500")
        #expect(firstBroken(try await store.chain(of: id)) == 500)
    }

    @Test("heads come page by page in the order of their identifiers", arguments: StoreKind.allCases)
    func heads(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        var ids: [ConsentID] = []
        for _ in 0..<23 { ids.append(try await store.keepConsent().id) }
        try await store.append(Make.event(.refreshed), to: ids[5])
        var (found, after) = ([ChainHead](), ConsentID?.none)
        while true {
            let page = try await store.ledgerRecords(after: after, limit: 10).map(\.head)
            guard let last = page.last else { break }
            #expect(page.count <= 10)
            found += page
            after = last.id
        }
        #expect(found.map(\.id) == ids.sorted())
        for head in found {
            #expect(head.count == (head.id == ids[5] ? 2 : 1))
            #expect(try await store.chain(of: head.id).last?.mac == head.mac)
        }
        #expect(try await store.chain(of: ConsentID(Make.uuid())).isEmpty)
    }

    private func types(_ id: ConsentID, _ store: any ConsentStore) async throws -> [EventType] {
        try await store.events(of: id).map(\.draft.type)
    }

    private func firstBroken(_ links: [ChainLink]) -> Int64? {
        var mac: [UInt8] = []
        for link in links {
            mac = FakeLedger().mac(previous: mac, event: link.canonical)
            if mac != link.mac { return link.sequence }
        }
        return nil
    }
}
