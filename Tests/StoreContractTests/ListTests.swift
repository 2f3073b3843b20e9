// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import Testing

@Suite("Lists in any store", .places)
struct ListTests {
    private static let acme = ProviderKey(name: "acme", environment: nil)

    @Test("pages hold every record once, newest first, whatever the filter", arguments: StoreKind.allCases)
    func paging(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let subjects = [Make.index(), Make.index(), Make.index()]
        let made = try await fill(store, subjects, count: 250)
        for filter in filters(subjects) {
            let wanted = made.filter { fits($0, filter) }.map(\.record.id).sorted(by: >)
            var filter = filter
            for limit in [7, 50, 200] {
                filter.limit = limit
                let pages = try await pages(filter, in: store)
                #expect(pages.flatMap { $0 } == wanted)
                #expect(pages.dropLast().allSatisfy { $0.count == limit })
                #expect(pages.count == max(1, (wanted.count + limit - 1) / limit))
            }
        }
    }

    @Test("records that come between two pages move nothing", arguments: StoreKind.allCases)
    func additions(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let subject = Make.index()
        let made = try await fill(store, [subject], count: 60).map(\.record.id).sorted(by: >)
        var added = 0
        for filter in [
            ConsentQuery(subject: nil, provider: nil, status: nil, before: nil, limit: 7),
            ConsentQuery(subject: subject, provider: nil, status: nil, before: nil, limit: 7),
        ] {
            let wanted = 60 + added
            var (query, seen) = (filter, [ConsentID]())
            while true {
                let page = try await store.consents(query)
                seen += page.items.map(\.record.id)
                added += 1
                let later = Make.now.advanced(by: .seconds(10_000 + added))
                _ = try await store.keepConsent(Make.consent(subject: subject, at: later))
                guard let next = page.next else { break }
                query.before = next
            }
            #expect(seen.suffix(60) == made[...] && seen.count == wanted)
        }
        let all = ConsentQuery(subject: subject, provider: nil, status: nil, before: nil, limit: 200)
        #expect(try await store.consents(all).items.count == 60 + added)
    }

    @Test("a listed record is the record, and an empty list ends at once", arguments: StoreKind.allCases)
    func whole(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let consent = Make.consent()
        _ = try await store.keepConsent(consent)
        let query = ConsentQuery(subject: nil, provider: "paypal", status: .active, before: nil, limit: 1)
        let page = try await store.consents(query)
        #expect(page.items.map(\.text) == [consent.text] && page.next == nil)
        let empty = try await store.consents(
            ConsentQuery(subject: Make.index(), provider: nil, status: nil, before: nil, limit: 50))
        #expect(empty.items.isEmpty && empty.next == nil)
        let unknown = try await store.consents(
            ConsentQuery(subject: nil, provider: "nobody", status: .failing, before: nil, limit: 50))
        #expect(unknown.items.isEmpty && unknown.next == nil)
    }

    // MARK: Around the tests

    /// Records over three minutes, subjects and two providers; every fifth is revoked, every seventh expired.
    private func fill(_ store: SQLStore, _ subjects: [BlindIndex], count: Int) async throws -> [StoredConsent] {
        try await withThrowingTaskGroup(of: ConsentID.self) { group in
            for number in 0..<count {
                let subject = subjects[number % subjects.count]
                group.addTask {
                    let consent = Make.consent(
                        subject: subject, at: Make.now.advanced(by: .seconds(number * 37 % 180)),
                        provider: number % 3 == 1 ? ListTests.acme : Make.provider)
                    let id = try await store.keepConsent(consent).id
                    if number % 5 == 0 { _ = try await store.withdraw(Make.withdrawal(id, [])) }
                    if number % 7 == 3 {
                        _ = try await store.expire(id, generation: 1, at: Make.now, event: Make.event(.expired))
                    }
                    return id
                }
            }
            var made: [StoredConsent] = []
            for try await id in group {
                if let consent = try await store.consent(id) { made.append(consent) }
            }
            return made
        }
    }

    private func filters(_ subjects: [BlindIndex]) -> [ConsentQuery] {
        var filters: [ConsentQuery] = []
        for subject in [nil, subjects[0], Make.index()] {
            for provider in [nil, "acme", "paypal", "nobody"] {
                for status in [nil, ConsentStatus.active, .revoked, .expired, .superseded] {
                    filters.append(
                        ConsentQuery(subject: subject, provider: provider, status: status, before: nil, limit: 50))
                }
            }
        }
        return filters
    }

    private func fits(_ consent: StoredConsent, _ query: ConsentQuery) -> Bool {
        (query.subject == nil || query.subject == consent.subjectIndex)
            && (query.provider == nil || query.provider == consent.record.provider.name)
            && (query.status == nil || query.status == consent.record.status)
    }

    private func pages(_ first: ConsentQuery, in store: any ConsentStore) async throws -> [[ConsentID]] {
        var query = first
        var pages: [[ConsentID]] = []
        while true {
            let page = try await store.consents(query)
            pages.append(page.items.map(\.record.id))
            guard let next = page.next else { return pages }
            query.before = next
        }
    }
}
