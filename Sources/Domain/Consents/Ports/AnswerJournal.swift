// SPDX-License-Identifier: Apache-2.0
/// Where a provider's answer is kept while the store does not take it: beside the store, on the same machine.
///
/// Nothing is ever read from it but to be written into the store, and writing an entry into the store twice does no harm.
package protocol AnswerJournal: Sendable {
    /// Keeps an entry; it has been synced to disk when this returns.
    func append(_ entry: JournalEntry) async throws(JournalFailure)
    /// The store has it by now: the entry may go. One that stays all the same is only written once more.
    func settle(_ id: UUIDv7) async
    /// What waits to be written into the store: this instance's entries, and those of instances that have ended, which
    /// become this one's to settle.
    func unsettled() async -> JournalContents
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
