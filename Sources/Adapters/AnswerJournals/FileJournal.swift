// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeSystem

/// The journals in a state folder: `journal/INSTANCE.journal`, one for each running process; beside them
/// `unreadable/ID`, a file for each answer that nobody can read today.
///
/// One thread does all of it; entries that wait at the same time share one sync.
package final class FileJournal: AnswerJournal {
    private let jobs = BlockingQueue<JournalJob>()
    private let thread: Locked<NamedThread?>

    /// Room for some thousand answers, in bytes.
    package static let standardSize = 4 << 20
    /// Entries that may wait to be written.
    private static let mostWaiting = 16_384

    /// Makes this instance's journal with its room on disk.
    /// - Throws: ``JournalFailure``.
    package init(stateDirectory: String, instance: InstanceID, size: Int) throws(JournalFailure) {
        let folder = stateDirectory + "/journal"
        do throws(SystemCallError) {
            try makePrivateDirectory(at: folder)
            let own = Locked<JournalFile?>(try JournalFile(at: "\(folder)/\(instance).journal", size: size))
            thread = Locked(
                try NamedThread(name: "journal") { [jobs] in
                    guard let file = own.withLock({ $0.take() }) else { return }
                    var desk = JournalDesk(own: file, instance: instance, folder: folder)
                    desk.work(on: jobs)
                })
        } catch { throw .outOfReach("\(folder): \(error)") }
    }

    package func append(_ entry: JournalEntry) async throws(JournalFailure) {
        try await done { .append(entry, $0) }
    }

    package func setAside(_ entry: JournalEntry) async throws(JournalFailure) {
        try await done { .setAside(entry, $0) }
    }

    private func done(
        _ job: (@escaping @Sendable (Result<Void, JournalFailure>) -> Void) -> JournalJob
    ) async throws(JournalFailure) {
        let outcome: Result<Void, JournalFailure> = await withCheckedContinuation { continuation in
            let job = job { continuation.resume(returning: $0) }
            if !jobs.offer(job, limit: FileJournal.mostWaiting) { continuation.resume(returning: .failure(.full)) }
        }
        try outcome.get()
    }

    package func settle(_ id: UUIDv7) async { _ = jobs.offer(.settle(id), limit: .max) }

    package func unsettled() async -> JournalContents {
        await withCheckedContinuation { continuation in
            let job = JournalJob.look { continuation.resume(returning: $0) }
            if !jobs.offer(job, limit: .max) { continuation.resume(returning: JournalContents()) }
        }
    }

    package func waitingElsewhere() async -> [JournalEntry] {
        await withCheckedContinuation { continuation in
            let job = JournalJob.lookElsewhere { continuation.resume(returning: $0) }
            if !jobs.offer(job, limit: .max) { continuation.resume(returning: []) }
        }
    }

    /// Does what waits, and removes this instance's journal where nothing in it waits. Blocks until done.
    package func close() {
        jobs.close()
        let ended = thread.withLock { $0.take() }
        ended?.join()
    }

    deinit { jobs.close() }
}

enum JournalJob: Sendable {
    case append(JournalEntry, @Sendable (Result<Void, JournalFailure>) -> Void)
    case setAside(JournalEntry, @Sendable (Result<Void, JournalFailure>) -> Void)
    case settle(UUIDv7)
    case look(@Sendable (JournalContents) -> Void)
    case lookElsewhere(@Sendable ([JournalEntry]) -> Void)
}
