// SPDX-License-Identifier: Apache-2.0
package import Consents

/// How a sweep is held back.
package struct SweepPace: Sendable {
    /// Refreshes at once, at least 1.
    package var concurrency: Int
    /// The least time between two starts; zero sets none.
    package var spacing: Duration

    package init(concurrency: Int, spacing: Duration) {
        self.concurrency = concurrency
        self.spacing = spacing
    }
}

/// What a sweep tells while it runs, on the thread that it runs on.
package enum SweepEvent: Sendable {
    /// So many have been found until now; `isWhole` where no more will be.
    case found(Int, isWhole: Bool)
    case ended(isRefreshed: Bool)
}

/// What came of one consent.
package struct SweptConsent: Sendable {
    package enum Outcome: Sendable {
        case refreshed(nextAt: Instant?)
        /// Its tokens were new when its turn came; nothing was sent.
        case refreshedElsewhere(nextAt: Instant?)
        case failed(ConsentFailure)
    }
    package var id: ConsentID
    package var outcome: Outcome
}

/// What came of a sweep: its consents in the order in which they were begun, and why it ended.
package struct SweepReport: Sendable {
    package enum End: Sendable, Equatable {
        case complete
        /// Interrupted before the last one was begun.
        case interrupted
        /// The store did not tell the next ones.
        case storeUnavailable
    }
    package var consents: [SweptConsent]
    package var end: End
}

/// Refreshes many consents, some at once; each waits for its answer to the end.
package struct SweepConsents: Sendable {
    private let refresh: RefreshConsent
    private let store: any ConsentStore
    private let time: any Timekeeper

    package init(refresh: RefreshConsent, store: any ConsentStore, time: any Timekeeper) {
        self.refresh = refresh
        self.store = store
        self.time = time
    }

    /// - Parameters:
    ///   - isInterrupted: asked before each; from the first true on none is begun, and those under way are awaited.
    ///   - tell: called at every step.
    package func callAsFunction(
        _ candidates: RefreshCandidates, pace: SweepPace, caller: CallerIdentity,
        isInterrupted: @Sendable () -> Bool, tell: @escaping @Sendable (SweepEvent) -> Void
    ) async -> SweepReport {
        var candidates = candidates
        var ended: [(place: Int, consent: SweptConsent)] = []
        var end = SweepReport.End.complete
        await withTaskGroup(of: (place: Int, consent: SweptConsent).self) { group in
            var begun = 0
            var mayBeginAt = time.monotonic
            do {
                while let record = try await candidates.next() {
                    tell(.found(candidates.known, isWhole: candidates.isKnownWhole))
                    if begun - ended.count >= pace.concurrency, let one = await group.next() { ended.append(one) }
                    if mayBeginAt > time.monotonic { try? await time.sleep(until: mayBeginAt) }
                    if isInterrupted() {
                        end = .interrupted
                        break
                    }
                    mayBeginAt = time.monotonic + pace.spacing
                    group.addTask { [place = begun, isOfDue = candidates.isOfDue] in
                        (place, await one(record, isOfDue: isOfDue, caller, tell))
                    }
                    begun += 1
                }
            } catch {
                end = .storeUnavailable
            }
            for await one in group { ended.append(one) }
        }
        return SweepReport(consents: ended.sorted { $0.place < $1.place }.map(\.consent), end: end)
    }

    private func one(
        _ found: ConsentRecord, isOfDue: Bool, _ caller: CallerIdentity, _ tell: @Sendable (SweepEvent) -> Void
    ) async -> SweptConsent {
        let outcome = await isOfDue ? outcomeWhereDue(found, caller) : outcome(of: found, caller)
        if case .failed = outcome { tell(.ended(isRefreshed: false)) } else { tell(.ended(isRefreshed: true)) }
        return SweptConsent(id: found.id, outcome: outcome)
    }

    /// One that another process has refreshed since it was found is left alone.
    private func outcomeWhereDue(_ found: ConsentRecord, _ caller: CallerIdentity) async -> SweptConsent.Outcome {
        let due = DueRefresh(
            id: found.id, generation: found.generation, dueAt: found.timing.dueAt ?? time.now, endsAt: nil)
        do throws(ConsentFailure) {
            let grant = try await refresh.whereDue(due, caller: caller)
            // Another process has tried it, and it waits for its next try.
            guard grant.generation != found.generation else { return .failed(.refreshPending) }
            return .refreshed(nextAt: grant.nextAt)
        } catch {
            return .failed(error)
        }
    }

    /// Its page may have been read a while ago, so the record is read again: who has new tokens needs no others.
    private func outcome(of found: ConsentRecord, _ caller: CallerIdentity) async -> SweptConsent.Outcome {
        if let current = try? await store.consent(found.id)?.record, current.status.isGrantHeld,
            current.generation != found.generation
        {
            return .refreshedElsewhere(nextAt: current.timing.dueAt)
        }
        do throws(ConsentFailure) {
            return .refreshed(nextAt: try await refresh.toTheEnd(found.id, caller: caller).record.timing.dueAt)
        } catch {
            return .failed(error)
        }
    }
}
