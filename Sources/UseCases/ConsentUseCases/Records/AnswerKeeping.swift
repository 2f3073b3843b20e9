// SPDX-License-Identifier: Apache-2.0
import Consents
import Observability

/// Keeps what a provider has answered: in the store, and where the store does not take it at once, in the journal until
/// it does. Whatever happens to this process after that, the answer is not lost.
final class AnswerKeeping: Sendable {
    let vault: any TokenVault
    let journal: any AnswerJournal
    let time: any Timekeeper
    let entropy: any Entropy
    let metrics: Metrics
    let log: Log

    init(
        vault: any TokenVault, journal: any AnswerJournal, time: any Timekeeper, entropy: any Entropy,
        metrics: Metrics, log: Log
    ) {
        self.vault = vault
        self.journal = journal
        self.time = time
        self.entropy = entropy
        self.metrics = metrics
        self.log = log
    }

    enum Kept<Answer: Sendable>: Sendable {
        case stored(Answer)
        /// The store did not take it in all that time; whoever replays the journal writes it.
        case journaled
    }

    /// - Parameters:
    ///   - content: what the journal gets, made only where it gets something.
    ///   - limit: how long the store is tried.
    /// - Throws: the store's failure, where the journal did not take it either.
    func keep<Answer: Sendable>(
        _ content: @autoclosure () -> AnsweredWrite, for limit: Duration,
        _ write: () async throws(StoreFailure) -> Answer
    ) async throws(StoreFailure) -> Kept<Answer> {
        let first: StoreFailure
        do { return .stored(try await write()) } catch { first = error }
        let entry = await journaled(content(), because: first)
        guard first.mayPass else {
            if entry == nil { throw first }
            return .journaled
        }
        do {
            let answer = try await StorePersistence(time: time).insist(for: limit, write)
            if let entry { await journal.settle(entry) }
            return .stored(answer)
        } catch {
            if entry == nil { throw error }
            return .journaled
        }
    }

    /// Keeps a success in which no token can be read, whole, before anything is concluded from it.
    func setAside(
        _ outcome: TokenOutcome, for spent: UnreadableAnswer.Spent, from provider: ProviderKey
    ) async {
        guard case .unreadable(let body, let statement) = outcome, !body.isEmpty else { return }
        let now = time.now
        let id = entropy.identifier(at: now)
        let answer = UnreadableAnswer(
            spent: spent, provider: provider, status: statement.status, body: body, at: now)
        do {
            try await journal.setAside(vault.seal(answer, journal: id))
            log.warning("an answer in which no token can be read is kept sealed", [Fact(.provider, provider.name)])
        } catch {
            log.error("an unreadable answer could not be kept", [Fact(.reason, "\(error)")])
        }
    }

    private func journaled(_ content: AnsweredWrite, because failure: StoreFailure) async -> UUIDv7? {
        let id = entropy.identifier(at: time.now)
        do {
            try await journal.append(vault.seal(content, journal: id))
            metrics.count(.journalEntries, [])
            log.warning(
                "the store does not take an answer; it lies in the journal until it does",
                [Fact(.reason, "\(failure)")])
            return id
        } catch {
            log.error("the journal does not take an answer", [Fact(.reason, "\(error)")])
            return nil
        }
    }
}
