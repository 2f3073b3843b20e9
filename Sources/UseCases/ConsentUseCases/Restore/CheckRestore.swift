// SPDX-License-Identifier: Apache-2.0
package import Consents

/// What a store that may have come back from a copy is like beside what the state folder tells.
package struct RestoreReport: Sendable, Equatable {
    /// How far the store has come; nil in one that no process has kept yet.
    package var store: EpochMark?
    /// How far it had come as the state folder has it; nil where nothing was noted.
    package var noted: EpochMark?
    /// Whether it is behind that, or refreshing was stopped for it.
    package var isBehind: Bool
    /// Grants that may be refreshed.
    package var grants = 0
    /// Those of them that were due in the time that is lost: their refresh tokens may be spent.
    package var dueInLostTime = 0
    /// Records that were changed after that time: by exchanges, since the copy came back.
    package var touchedSince = 0
    /// Withdrawn by the list and alive in the store, by identifier.
    package var missing: [MissingWithdrawal] = []

    package init(store: EpochMark?, noted: EpochMark?, isBehind: Bool) {
        self.store = store
        self.noted = noted
        self.isBehind = isBehind
    }
}

package struct MissingWithdrawal: Sendable, Equatable {
    package var id: ConsentID
    package var end: GrantEnd

    package init(id: ConsentID, end: GrantEnd) {
        self.id = id
        self.end = end
    }
}

/// What an accepted store began.
package struct AcceptedRestore: Sendable, Equatable {
    package var epoch: StoreEpoch
    /// Withdrawn again now.
    package var withdrawn: [ConsentID]
    /// Those that could not be, by identifier: then nothing was accepted.
    package var failed: [ConsentID]
}

/// Looks at a store that came back from a copy, and takes it as it is on an operator's word: what was withdrawn is
/// withdrawn again, and a new incarnation begins.
///
/// From then on each grant is tried as it falls due. One that the provider refuses before it was ever refreshed in this
/// incarnation ends with the reason `restored_backup`.
package final class CheckRestore: Sendable {
    private let store: any ConsentStore
    private let note: any EpochNote
    private let withdrawn: any WithdrawnList
    private let withdraw: WithdrawConsent
    private let vault: any TokenVault
    private let time: any Timekeeper
    private let entropy: any Entropy

    package init(
        store: any ConsentStore, note: any EpochNote, withdrawn: any WithdrawnList, withdraw: WithdrawConsent,
        vault: any TokenVault, time: any Timekeeper, entropy: any Entropy
    ) {
        self.store = store
        self.note = note
        self.withdrawn = withdrawn
        self.withdraw = withdraw
        self.vault = vault
        self.time = time
        self.entropy = entropy
    }

    package enum Failure: Error, Sendable, Equatable {
        case store(StoreFailure)
        case state(StateFailure)
    }

    /// Changes nothing.
    package func callAsFunction() async throws(Failure) -> RestoreReport {
        do {
            let (life, noted) = (try await store.life(), try note.read())
            let isBehind = life.stop != nil || EpochVerdict(of: life, noted: noted) == .isBehind
            var report = RestoreReport(store: life.mark, noted: noted, isBehind: isBehind)
            try await lookThrough(&report, try await withdrawn.contents())
            return report
        } catch {
            throw Failure(error)
        }
    }

    /// Withdraws again, then begins a new incarnation. Where a withdrawal fails none is begun; where the state folder takes
    /// no note, the store goes on being behind it. Either is mended by running it again.
    /// - Parameter report: what was found just now.
    package func accept(_ report: RestoreReport, caller: CallerIdentity) async throws(Failure) -> AcceptedRestore {
        let now = time.now
        let number = max(report.store?.epoch.number ?? 0, report.noted?.epoch.number ?? 0) + 1
        var accepted = AcceptedRestore(
            epoch: StoreEpoch(incarnation: entropy.identifier(at: now), number: number), withdrawn: [], failed: [])
        for missing in report.missing {
            do throws(ConsentFailure) {
                try await withdraw.again(missing.id, reason: missing.end.reason, caller: caller)
                accepted.withdrawn.append(missing.id)
            } catch { accepted.failed.append(missing.id) }
        }
        guard accepted.failed.isEmpty else { return accepted }
        do {
            try await store.acceptStore(as: accepted.epoch, at: now)
            try note.write(EpochMark(epoch: accepted.epoch, at: now))
        } catch { throw Failure(error) }
        return accepted
    }

    private static let pageSize = 500

    private func lookThrough(_ report: inout RestoreReport, _ listed: Set<BlindIndex>) async throws(StoreFailure) {
        var last: ConsentID?
        while true {
            let page = try await store.glances(after: last, limit: CheckRestore.pageSize)
            for glance in page { take(glance, into: &report, listed) }
            guard page.count == CheckRestore.pageSize else { return }
            last = page.last?.id
        }
    }

    private func take(_ glance: GrantGlance, into report: inout RestoreReport, _ listed: Set<BlindIndex>) {
        if !listed.isEmpty,
            let end = GrantEnd.allCases.first(where: { listed.contains(vault.digest(of: $0, glance.id)) })
        {
            report.missing.append(MissingWithdrawal(id: glance.id, end: end))
        }
        guard report.isBehind, let noted = report.noted else {
            report.grants += glance.status.isGrantHeld ? 1 : 0
            return
        }
        if glance.updatedAt > noted.at { report.touchedSince += 1 }
        guard glance.status.isGrantHeld else { return }
        report.grants += 1
        let lostFrom = report.store?.at ?? Instant(milliseconds: 0)
        if let due = glance.dueAt, due > lostFrom, due <= noted.at { report.dueInLostTime += 1 }
    }
}

extension CheckRestore.Failure {
    fileprivate init(_ error: any Error) {
        switch error {
        case let failure as StoreFailure: self = .store(failure)
        case let failure as StateFailure: self = .state(failure)
        default: self = .store(.outOfReach("\(error)"))
        }
    }
}
