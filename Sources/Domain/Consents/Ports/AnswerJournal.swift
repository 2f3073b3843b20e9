// SPDX-License-Identifier: Apache-2.0
/// Where a provider's answer is kept while the store does not take it: beside the store, on the same machine.
///
/// Nothing is ever read from it but to be written into the store, and writing an entry into the store twice does no harm.
package protocol AnswerJournal: Sendable {
    /// Keeps an entry; it has been synced to disk when this returns.
    func append(_ entry: JournalEntry) async throws(JournalFailure)
    /// The store has it by now: the entry may go. One that stays all the same is only written once more.
    func settle(_ id: UUIDv7) async
    /// Keeps an answer that nobody can read today, synced, for a later version of the program: it never settles. Of too
    /// many the oldest are removed.
    func setAside(_ entry: JournalEntry) async throws(JournalFailure)
    /// What waits to be written into the store: this instance's entries, and those of instances that have ended, which
    /// become this one's to settle.
    func unsettled() async -> JournalContents
    /// What waits in the journals that other processes hold: theirs, or an ended instance's that they are writing into
    /// the store. Theirs to settle; what it says may be written into the store by anybody.
    func waitingElsewhere() async -> [JournalEntry]
}

/// One entry as it lies on disk.
package struct JournalEntry: Sendable, Equatable {
    package let id: UUIDv7
    package let sealed: SealedBytes

    package init(id: UUIDv7, sealed: SealedBytes) {
        self.id = id
        self.sealed = sealed
    }
}

/// What a look into the journals found.
package struct JournalContents: Sendable {
    /// Oldest first, within each instance's journal.
    package var entries: [JournalEntry] = []
    /// Paths of the journals whose last entry was cut off by a crash: it had never been acknowledged.
    package var tornJournals: [String] = []
    /// Journals of ended instances that could not be read, each with the reason.
    package var unreadable: [String] = []

    package init() {}
}

/// What an entry says, opened.
package enum AnsweredWrite: Sendable {
    /// The grant that a code brought, to be kept beside the code.
    case grant(code: BlindIndex, attempt: AttemptID, sealed: SealedBytes)
    /// What a refresh brought. The tokens are there once more for the case that their consent has ended meanwhile, with
    /// its key: then they are revoked.
    case tokens(TokenWrite, TokenSet)
}

/// A provider's success in which no token can be read, with the tokens that may be in it.
package struct UnreadableAnswer: Sendable {
    /// What was spent for it.
    package enum Spent: Sendable, Equatable {
        case code(BlindIndex)
        case refreshToken(ConsentID, generation: Int64)
    }

    package var spent: Spent
    package var provider: ProviderKey
    /// The HTTP status.
    package var status: Int
    package var body: SecretText
    package var at: Instant

    package init(spent: Spent, provider: ProviderKey, status: Int, body: SecretText, at: Instant) {
        self.spent = spent
        self.provider = provider
        self.status = status
        self.body = body
        self.at = at
    }
}

/// Why an entry could not be kept.
package enum JournalFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// Too many entries wait.
    case full
    /// The file cannot be written; with the system's reason.
    case outOfReach(String)

    package var description: String {
        switch self {
        case .full: "the journal is full"
        case .outOfReach(let reason): "the journal cannot be written: \(reason)"
        }
    }
}
