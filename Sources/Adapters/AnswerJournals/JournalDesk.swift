// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import Glibc
internal import NativeSystem

/// The journal's thread at work: this instance's file, and those that ended instances left.
struct JournalDesk: ~Copyable {
    private var own: JournalFile
    private let instance: InstanceID
    private let folder: String
    /// Ended instances' files that still hold something, by path. Held open, for their locks keep others away.
    private var left: [String: LeftJournal] = [:]
    private var waiting: [UUIDv7: JournalEntry] = [:]
    private var order: [UUIDv7] = []

    init(own: consuming JournalFile, instance: InstanceID, folder: String) {
        self.own = own
        self.instance = instance
        self.folder = folder
    }

    private static let batch = 256
    /// Bytes of a journal of another process, and of its beginning.
    private static let largest = 1 << 30
    private static let glance = 4096

    mutating func work(on jobs: BlockingQueue<JournalJob>) {
        while let batch = jobs.take(upTo: JournalDesk.batch) {
            var written: [@Sendable (Result<Void, JournalFailure>) -> Void] = []
            for job in batch {
                switch job {
                case .append(let entry, let tell):
                    do throws(JournalFailure) {
                        try own.append(entry)
                        remember(entry)
                        written.append(tell)
                    } catch { tell(.failure(error)) }
                case .setAside(let entry, let tell): tell(UnreadableAnswers(folder: folder).keep(entry))
                case .settle(let id): settle(id)
                case .look(let tell): tell(look())
                case .lookElsewhere(let tell): tell(lookElsewhere())
                }
            }
            guard !written.isEmpty else { continue }
            let outcome: Result<Void, JournalFailure>
            do throws(JournalFailure) { outcome = .success(try own.sync()) } catch { outcome = .failure(error) }
            for tell in written { tell(outcome) }
        }
        if own.isEmpty { try? removeFile(at: ownPath) }
    }

    private var ownPath: String { "\(folder)/\(instance).journal" }

    private mutating func remember(_ entry: JournalEntry) {
        waiting[entry.id] = entry
        order.append(entry.id)
    }

    private mutating func settle(_ id: UUIDv7) {
        guard waiting.removeValue(forKey: id) != nil else { return }
        order.removeAll { $0 == id }
        if own.settle(id) { return }
        for (path, journal) in left where journal.settle(id) {
            if journal.isEmpty { remove(path) }
            return
        }
    }

    private mutating func remove(_ path: String) {
        try? removeFile(at: path)
        left[path] = nil
    }

    private mutating func look() -> JournalContents {
        var contents = JournalContents()
        for path in pathsOfOthers() where left[path] == nil {
            do throws(SystemCallError) {
                let journal = LeftJournal(try JournalFile(leftAt: path))
                if journal.isTorn { contents.tornJournals.append(path) }
                left[path] = journal
                for entry in journal.found { remember(entry) }
                if journal.isEmpty { remove(path) }
            } catch {
                // Its instance lives, or another one has taken it or settled it.
                if error.code == EWOULDBLOCK || error.code == ENOENT { continue }
                contents.unreadable.append("\(path): \(error)")
            }
        }
        contents.entries = order.compactMap { waiting[$0] }
        return contents
    }

    /// Read beside whoever holds them: what is half written is not whole by its digest.
    private func lookElsewhere() -> [JournalEntry] {
        var entries: [JournalEntry] = []
        for path in pathsOfOthers() where left[path] == nil {
            // Most hold nothing, and a process that waits for another one looks again and again.
            guard let beginning = try? readBeginning(ofFileAt: path, count: JournalDesk.glance) else { continue }
            var contents = JournalFormat.read(beginning)
            if contents.end + JournalFormat.headerLength > beginning.count || contents.isTorn,
                let file = try? readFile(at: path, limit: JournalDesk.largest)
            {
                contents = JournalFormat.read(file.bytes)
            }
            entries += contents.entries.map(\.entry)
        }
        return entries
    }

    private func pathsOfOthers() -> [String] {
        guard let found = try? names(inDirectory: folder) else { return [] }
        return found.filter { $0.hasSuffix(".journal") && $0 != "\(instance).journal" }.sorted()
            .map { "\(folder)/\($0)" }
    }
}

/// A box, for a dictionary holds no noncopyable values. It stays on the journal's thread.
private final class LeftJournal {
    private var file: JournalFile

    init(_ file: consuming JournalFile) { self.file = file }

    var isTorn: Bool { file.isTorn }
    var isEmpty: Bool { file.isEmpty }
    var found: [JournalEntry] { file.found }

    func settle(_ id: UUIDv7) -> Bool { file.settle(id) }
}
