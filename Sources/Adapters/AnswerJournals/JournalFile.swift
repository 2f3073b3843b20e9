// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeSystem

/// One instance's journal on disk. A crash leaves whole entries, and perhaps half a last one that nobody was told of.
struct JournalFile: ~Copyable {
    private var file: PreallocatedFile
    private var waiting: [UUIDv7: Int] = [:]
    private var end: Int
    private var round: UInt32
    let isTorn: Bool
    /// What waited when it was opened, oldest first.
    let found: [JournalEntry]

    /// - Throws: `ENOSPC` where the disk has no room for it.
    init(at path: String, size: Int) throws(SystemCallError) {
        try self.init(try PreallocatedFile(at: path, size: size))
    }

    /// Another instance's, which has ended.
    /// - Throws: `EWOULDBLOCK` where it lives.
    init(leftAt path: String) throws(SystemCallError) { try self.init(try PreallocatedFile(existingAt: path)) }

    private init(_ file: consuming PreallocatedFile) throws(SystemCallError) {
        let contents = JournalFormat.read(try file.contents())
        self.file = file
        for (offset, entry) in contents.entries { waiting[entry.id] = offset }
        found = contents.entries.map(\.entry)
        isTorn = contents.isTorn
        end = contents.end
        round = contents.round ?? 1
    }

    var isEmpty: Bool { waiting.isEmpty }

    /// Writes an entry; it is safe once ``sync()`` has returned.
    mutating func append(_ entry: JournalEntry) throws(JournalFailure) {
        if waiting.isEmpty, end > 0 {
            end = 0
            round &+= 1
        }
        let bytes = JournalFormat.bytes(of: entry, round: round)
        do throws(SystemCallError) {
            if end + bytes.count > file.size { try file.grow(to: max(2 * file.size, end + bytes.count)) }
        } catch { throw .full }
        do throws(SystemCallError) { try file.write(bytes, at: end) } catch { throw .outOfReach("\(error)") }
        waiting[entry.id] = end
        end += bytes.count
    }

    func sync() throws(JournalFailure) {
        do throws(SystemCallError) { try file.sync() } catch { throw .outOfReach("\(error)") }
    }

    /// Marks an entry as settled. That it reaches the disk is not waited for: what is written twice does no harm.
    /// - Returns: whether it was here.
    mutating func settle(_ id: UUIDv7) -> Bool {
        guard let offset = waiting.removeValue(forKey: id) else { return false }
        try? file.write(JournalFormat.settled, at: offset)
        return true
    }
}
