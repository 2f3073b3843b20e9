// SPDX-License-Identifier: Apache-2.0
package import Consents
package import Observability

/// Notes outside the store how far it has come, every ten seconds, and stops all refreshing where the store is behind
/// that: it came back from a copy, whose refresh tokens may have been spent since (refresh.md, *Restore*). An empty one
/// is behind any note: what it should be may lie on a disk that is not mounted.
///
/// Reads go on, and so do exchanges: they send nothing that lies in the copy, and a person who consents anew brings
/// tokens that are good.
package final class KeepEpoch: Sendable {
    private let store: any ConsentStore
    private let note: any EpochNote
    private let time: any Timekeeper
    private let entropy: any Entropy
    private let log: Log
    private let seen = Latest()

    package static let interval = Duration.seconds(10)

    package init(
        store: any ConsentStore, note: any EpochNote, time: any Timekeeper, entropy: any Entropy, log: Log
    ) {
        self.store = store
        self.note = note
        self.time = time
        self.entropy = entropy
        self.log = log
    }

    /// Why refreshing stands still, as this process saw it last; nil where it goes on.
    package var stop: RefreshStop? { get async { await seen.stop } }

    /// Holds the store against what was noted, then goes a step further. Before this process claims anything.
    /// - Throws: the store's failure: nothing is known then.
    package func begin() async throws(StoreFailure) {
        var (life, verdict) = try await look()
        if verdict == .isBehind, life.stop == nil, life.acceptedAt != nil {
            // An operator may be accepting the store at this moment: the note of its new life comes after it.
            try? await time.sleep(until: time.monotonic + .milliseconds(250))
            (life, verdict) = try await look()
        }
        if let stop = life.stop { return await tell(stop) }
        switch verdict {
        case .goesOn: break
        case .adopted(let sentence): log.warning(sentence)
        case .isBehind:
            try await store.stopRefreshing(.behindStateFolder, at: time.now)
            return await tell(.behindStateFolder)
        }
        try await step(from: nil)
    }

    /// The note is read before the store: other processes step on, the store first and then the note, and what was noted
    /// by now the store has reached by then.
    private func look() async throws(StoreFailure) -> (life: StoreLife, verdict: EpochVerdict) {
        let noted = noted()
        let life = try await store.life()
        return (life, EpochVerdict(of: life, noted: noted))
    }

    /// Returns when its task is cancelled. A failure is told and tried again with the next step.
    package func run() async {
        while !Task.isCancelled {
            do throws(CancellationError) {
                try await time.sleep(until: time.monotonic + KeepEpoch.interval)
            } catch { return }
            await goOn()
        }
    }

    /// One step more than the clock asks for, at an orderly end: a copy that was made just before is told by it.
    package func end() async { await goOn() }

    private func goOn() async {
        do throws(StoreFailure) {
            // Where refreshing is stopped, or the life is another, an operator may have accepted the store meanwhile.
            guard let known = await seen.epoch else { return try await begin() }
            try await step(from: known)
        } catch {
            log.warning("the store's epoch could not be written", [Fact(.reason, "\(error)")])
        }
    }

    private func step(from known: StoreEpoch?) async throws(StoreFailure) {
        let now = time.now
        switch try await store.stepEpoch(from: known, newborn: entropy.identifier(at: now), at: now) {
        case .reached(let epoch):
            await tellOn(epoch)
            do throws(StateFailure) { try note.write(EpochMark(epoch: epoch, at: now)) } catch {
                log.error("the store's epoch could not be noted in the state folder", [Fact(.reason, "\(error)")])
            }
        case .otherLife:
            await seen.forget()
            try await begin()
        case .stopped(let stop): await tell(stop)
        }
    }

    /// A note that cannot be read is as none: it is replaced whole, so that only the disk or a hand can have spoilt it.
    private func noted() -> EpochMark? {
        do throws(StateFailure) { return try note.read() } catch {
            log.error("the note of the store's epoch cannot be read", [Fact(.reason, "\(error)")])
            return nil
        }
    }

    private func tell(_ stop: RefreshStop) async {
        guard await seen.take(stop) else { return }
        log.error(
            "the store is older than what has happened: nothing is refreshed until `restore-check --accept` was run",
            [Fact(.reason, stop.rawValue)])
    }

    private func tellOn(_ epoch: StoreEpoch) async {
        if await seen.take(epoch) { log.notice("the store was accepted: refreshing goes on") }
    }
}

/// What a store's life says beside what was noted outside it.
package enum EpochVerdict: Sendable, Equatable {
    case goesOn
    /// Nothing to hold it against: taken as it is, with a warning.
    case adopted(StaticString)
    case isBehind

    package init(of life: StoreLife, noted: EpochMark?) {
        guard let noted else {
            self =
                life.mark == nil
                ? .goesOn : .adopted("the state folder has no note of the store's epoch; the store is taken as it is")
            return
        }
        if let epoch = life.mark?.epoch, epoch.incarnation == noted.epoch.incarnation,
            epoch.number >= noted.epoch.number
        {
            self = .goesOn
        } else {
            self = .isBehind
        }
    }

    package static func == (left: EpochVerdict, right: EpochVerdict) -> Bool {
        switch (left, right) {
        case (.goesOn, .goesOn), (.isBehind, .isBehind), (.adopted, .adopted): true
        default: false
        }
    }
}

/// What this process saw last.
private actor Latest {
    private(set) var epoch: StoreEpoch?
    private(set) var stop: RefreshStop?

    func forget() { epoch = nil }

    /// - Returns: whether it is news.
    func take(_ stop: RefreshStop) -> Bool {
        defer { self.stop = stop }
        epoch = nil
        return self.stop == nil
    }

    /// - Returns: whether refreshing was stopped before.
    func take(_ epoch: StoreEpoch) -> Bool {
        defer { stop = nil }
        self.epoch = epoch
        return stop != nil
    }
}
