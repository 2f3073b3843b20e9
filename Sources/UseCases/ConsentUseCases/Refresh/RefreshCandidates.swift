// SPDX-License-Identifier: Apache-2.0
package import Consents

/// Which consents a sweep refreshes; nil takes all.
package struct RefreshSelection: Sendable {
    package var subject: Subject?
    /// The configured name.
    package var provider: String?
    /// Only those whose `next_refresh_at` is past, those that wait for their next try among them.
    package var isDueOnly: Bool
    /// Those that fail as well, before their next try is due.
    package var includesFailing: Bool

    package init(subject: Subject?, provider: String?, isDueOnly: Bool, includesFailing: Bool) {
        self.subject = subject
        self.provider = provider
        self.isDueOnly = isDueOnly
        self.includesFailing = includesFailing
    }

    /// Whether the record is one of them by its status and its time; subject and provider are the store's to look for.
    package func takes(_ record: ConsentRecord, at now: Instant) -> Bool {
        guard record.isRefreshable else { return false }
        let isDue = record.timing.dueAt.map { $0 <= now } ?? false
        return switch record.status {
        case .active: isDue || !isDueOnly
        case .failing: includesFailing || (isDueOnly && isDue)
        case .reauthorizationRequired, .superseded, .expired, .revoked: false
        }
    }
}

/// The records of a selection one after the other, read from the store a page at a time.
///
/// Those that are due come as the scheduler takes them, what ends first before the others; of a person, or with those
/// whose next try is not due, they are looked for among all records, newest first. A record comes once, whatever its
/// refresh makes of it meanwhile.
package struct RefreshCandidates: Sendable {
    private let store: any ConsentStore & DueRefreshes
    private let providers: [ProviderFacts]
    private let time: any Timekeeper
    private let selection: RefreshSelection
    private let limit: Int
    private var query: ConsentQuery
    private var page: ArraySlice<ConsentRecord> = []
    /// Found due and not yet read; nil before they were looked for.
    private var due: ArraySlice<DueRefresh>?
    /// How many were found until now.
    package private(set) var known = 0
    /// Whether no more than those will be found.
    package private(set) var isKnownWhole = false

    /// What the largest page of the store holds.
    private static let pageSize = 200
    /// So many that are due are found at once, and no more.
    private static let mostDue = 100_000

    /// - Parameters:
    ///   - limit: records at most; nil sets none.
    ///   - providers: those that are configured: what is due at another one nobody can refresh.
    package init(
        _ selection: RefreshSelection, limit: Int?, providers: [ProviderFacts],
        store: any ConsentStore & DueRefreshes, vault: any TokenVault, time: any Timekeeper
    ) {
        self.store = store
        self.providers = providers.filter { selection.provider == nil || $0.key.name == selection.provider }
        self.time = time
        self.selection = selection
        self.limit = limit ?? .max
        query = ConsentQuery(
            subject: selection.subject.map { vault.index(of: $0) }, provider: selection.provider, status: nil,
            before: nil, limit: RefreshCandidates.pageSize)
    }

    /// - Returns: nil after the last one.
    package mutating func next() async throws(StoreFailure) -> ConsentRecord? {
        if isOfDue { return try await nextDue() }
        while page.isEmpty && !isKnownWhole { try await readPage() }
        return page.popFirst()
    }

    /// Whether the store finds them by their time.
    package var isOfDue: Bool { selection.isDueOnly && !selection.includesFailing && selection.subject == nil }

    private mutating func nextDue() async throws(StoreFailure) -> ConsentRecord? {
        var waiting: ArraySlice<DueRefresh>
        if let due { waiting = due } else { waiting = try await findDue() }
        defer { due = waiting }
        while let one = waiting.popFirst() {
            if let record = try await store.consent(one.id)?.record { return record }
        }
        return nil
    }

    private mutating func findDue() async throws(StoreFailure) -> ArraySlice<DueRefresh> {
        var found: [DueRefresh] = []
        for facts in providers {
            found += try await store.dueRefreshes(
                of: facts.key, policy: facts.policy, at: time.now,
                limit: min(limit, RefreshCandidates.mostDue))
        }
        let first = found.sorted { $0.precedes($1) }.prefix(limit)
        known = first.count
        isKnownWhole = true
        return first
    }

    private mutating func readPage() async throws(StoreFailure) {
        let read = try await store.consents(query)
        let now = time.now
        let found = read.items.map(\.record).filter { selection.takes($0, at: now) }
        page = found.prefix(limit - known)
        known += page.count
        query.before = read.next
        isKnownWhole = read.next == nil || known == limit
    }
}
