// SPDX-License-Identifier: Apache-2.0
import Consents
import Observability

/// Writes into the store what lies in the journals: this instance's, and those of instances that have ended.
final class JournalReplay: Sendable {
    let store: any ConsentStore
    let vault: any TokenVault
    let journal: any AnswerJournal
    let time: any Timekeeper
    let entropy: any Entropy
    let log: Log

    init(
        store: any ConsentStore, vault: any TokenVault, journal: any AnswerJournal, time: any Timekeeper,
        entropy: any Entropy, log: Log
    ) {
        self.store = store
        self.vault = vault
        self.journal = journal
        self.time = time
        self.entropy = entropy
        self.log = log
    }

    /// Whether anything lies in a journal that this instance may settle.
    var isNeeded: Bool { get async { await !journal.unsettled().entries.isEmpty } }

    /// Writes what refreshes brought, and leaves grants to whoever makes consents of them. Before a refresh token goes
    /// out whose last sending came to no known end: its answer may lie here, or where another process is about to write
    /// it, or was stopped before it could.
    /// - Returns: the consents whose tokens the store has not taken yet.
    func refreshedTokens() async -> Set<ConsentID> {
        var waiting: Set<ConsentID> = []
        for entry in await journal.unsettled().entries {
            guard await writeTokens(of: entry, isOurs: true, orElse: &waiting) else { continue }
            await journal.settle(entry.id)
            log.notice("an answer of the journal is in the store")
        }
        for entry in await journal.waitingElsewhere() {
            guard await writeTokens(of: entry, isOurs: false, orElse: &waiting) else { continue }
            log.notice("an answer of another process's journal is in the store")
        }
        return waiting
    }

    /// - Parameter isOurs: to settle, and so to revoke where the person has withdrawn meanwhile.
    /// - Returns: whether they are in the store.
    private func writeTokens(of entry: JournalEntry, isOurs: Bool, orElse waiting: inout Set<ConsentID>) async -> Bool {
        guard let content = open(entry), case .tokens(let write, _) = content else { return false }
        do throws(StoreFailure) {
            if isOurs { _ = try await self.write(content) } else { _ = try await store.saveTokens(write) }
            return true
        } catch {
            log.warning("the store does not take an answer of the journal yet", [Fact(.reason, "\(error)")])
            waiting.insert(write.id)
            return false
        }
    }

    /// Goes on until the store takes no more; what is left waits for the next time.
    /// - Returns: the grants that lie beside their codes now, to be made consents.
    func callAsFunction() async -> [(code: BlindIndex, sealed: SealedBytes)] {
        let contents = await journal.unsettled()
        for path in contents.tornJournals {
            log.warning("the last entry of an ended instance's journal was cut off", [Fact(.path, path)])
        }
        for reason in contents.unreadable {
            log.error("an ended instance's journal cannot be read", [Fact(.reason, reason)])
        }
        var grants: [(code: BlindIndex, sealed: SealedBytes)] = []
        for entry in contents.entries {
            guard let content = open(entry) else { continue }
            do throws(StoreFailure) {
                if let grant = try await write(content) { grants.append(grant) }
                await journal.settle(entry.id)
                log.notice("an answer of the journal is in the store")
            } catch {
                guard error.mayPass else {
                    log.error("the store refuses an answer of the journal", [Fact(.reason, "\(error)")])
                    continue
                }
                break
            }
        }
        return grants
    }

    /// One that cannot be opened stays: the ring may get its key back.
    private func open(_ entry: JournalEntry) -> AnsweredWrite? {
        do { return try vault.open(entry) } catch {
            log.error("an answer of the journal cannot be opened", [Fact(.reason, "\(error)")])
            return nil
        }
    }

    private func write(_ content: AnsweredWrite) async throws(StoreFailure) -> (code: BlindIndex, sealed: SealedBytes)?
    {
        switch content {
        case .grant(let code, let attempt, let sealed):
            guard try await store.keepGrant(code, attempt: attempt, grant: sealed, at: time.now) else { return nil }
            return (code, sealed)
        case .tokens(let write, let tokens):
            guard try await store.saveTokens(write) == .ended, let stored = try await store.consent(write.id),
                stored.record.status == .revoked
            else { return nil }
            try await revoke(tokens, of: stored.record, from: write)
            return nil
        }
    }

    /// They came after the person had withdrawn: they go the way of the others, the new ones first.
    private func revoke(_ tokens: TokenSet, of record: ConsentRecord, from write: TokenWrite) async throws(StoreFailure)
    {
        let drafts: [RevocationDraft]
        do {
            drafts = try RevocationDrafts(vault: vault, entropy: entropy)
                .drafts(of: tokens, record: record, reason: .withdrawal, at: write.timing.issuedAt)
        } catch {
            log.error("tokens of a withdrawn grant cannot be sealed", [Fact(.reason, "\(error)")])
            return
        }
        try await store.queueRevocations(drafts, at: time.now)
    }
}
