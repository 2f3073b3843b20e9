// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeSystem
import Testing
import TestSupport

@testable import AnswerJournals

@Suite("The journal of answers")
struct FileJournalTests {
    private let folder: String

    init() throws { folder = try makeTemporaryFolder(prefix: "journal", in: "/tmp") }

    private static func instance(_ number: UInt64) -> InstanceID {
        InstanceID(UUIDv7(milliseconds: number, random: (number, number)))
    }

    private static func entry(_ number: UInt64, bytes: Int = 40) -> JournalEntry {
        JournalEntry(
            id: UUIDv7(milliseconds: 1_000 + number, random: (number, 7)),
            sealed: SealedBytes((0..<bytes).map { UInt8(truncatingIfNeeded: UInt64($0) + number) }))
    }

    private func open(_ number: UInt64, size: Int = 64 << 10) throws -> FileJournal {
        try FileJournal(stateDirectory: folder, instance: Self.instance(number), size: size)
    }

    /// What ended instances left, once their locks are free: a process that was forked elsewhere in this one holds every
    /// descriptor until it is another program.
    private func left(to journal: FileJournal, count: Int) async -> JournalContents {
        let deadline = ContinuousClock.now + .seconds(10 * patience())
        while ContinuousClock.now < deadline {
            let found = await journal.unsettled()
            if found.entries.count >= count { return found }
            await Task.yield()
        }
        return await journal.unsettled()
    }

    private func file() async throws -> JournalPages {
        let deadline = ContinuousClock.now + .seconds(10 * patience())
        while true {
            do { return JournalPages(try PreallocatedFile(existingAt: path(1))) } catch {
                guard ContinuousClock.now < deadline else { throw error }
                await Task.yield()
            }
        }
    }

    private func path(_ number: UInt64) -> String { "\(folder)/journal/\(Self.instance(number)).journal" }

    @Test("what was appended is found again, oldest first, until it is settled")
    func appended() async throws {
        defer { removeFolder(at: folder) }
        let journal = try open(1)
        defer { journal.close() }
        for number in 1...3 { try await journal.append(Self.entry(UInt64(number))) }
        #expect(await journal.unsettled().entries == [Self.entry(1), Self.entry(2), Self.entry(3)])
        await journal.settle(Self.entry(2).id)
        #expect(await journal.unsettled().entries == [Self.entry(1), Self.entry(3)])
    }

    @Test(
        "a living instance's journal is nobody else's; a journal left behind is the next one's, and goes when settled")
    func leftBehind() async throws {
        defer { removeFolder(at: folder) }
        let first = try open(1)
        let second = try open(2)
        defer { second.close() }
        try await first.append(Self.entry(1))
        #expect(await second.unsettled().entries.isEmpty)
        #expect(await second.waitingElsewhere() == [Self.entry(1)], "the living one's, only to be read")
        first.close()
        #expect(await left(to: second, count: 1).entries == [Self.entry(1)])
        let third = try open(3)
        defer { third.close() }
        #expect(await third.unsettled().entries.isEmpty, "the second has it")
        #expect(await third.waitingElsewhere() == [Self.entry(1)], "it may be read all the same")
        for number in 10...12 { try await second.append(Self.entry(UInt64(number), bytes: 3000)) }
        #expect(await third.waitingElsewhere().count == 4, "however much of it there is")
        for number in 10...12 { await second.settle(Self.entry(UInt64(number)).id) }
        await second.settle(Self.entry(1).id)
        #expect(await second.unsettled().entries.isEmpty)
        #expect(await third.waitingElsewhere().isEmpty)
        #expect(try FileIdentity.ofFile(at: path(1)) == nil)
    }

    @Test("an instance that ends with nothing waiting leaves no file")
    func leavesNothing() async throws {
        defer { removeFolder(at: folder) }
        let journal = try open(1)
        try await journal.append(Self.entry(1))
        await journal.settle(Self.entry(1).id)
        journal.close()
        #expect(try FileIdentity.ofFile(at: path(1)) == nil)
    }

    @Test(
        "a last entry that is cut off anywhere, or altered, costs none of those before it",
        arguments: [1, 4, 30, 59, 60, 80])
    func torn(cut: Int) async throws {
        defer { removeFolder(at: folder) }
        let journal = try open(1)
        try await journal.append(Self.entry(1))
        try await journal.append(Self.entry(2))
        journal.close()
        let whole = JournalFormat.read(try readFile(at: path(1), limit: 1 << 20).bytes)
        let last = try #require(whole.entries.last?.offset)
        try await overwrite(from: last + cut, to: whole.end)
        let next = try open(2)
        defer { next.close() }
        let found = await left(to: next, count: 1)
        #expect(found.entries == [Self.entry(1)])
        #expect(found.tornJournals.count == (cut < 8 ? 0 : 1), "a mark without a round could be an earlier round's")
    }

    private func overwrite(from start: Int, to end: Int) async throws {
        try await file().write([UInt8](repeating: 0, count: end - start), at: start)
    }

    @Test("a file that was used up to the end and settled begins anew, and nothing old comes back")
    func rounds() async throws {
        defer { removeFolder(at: folder) }
        let journal = try open(1, size: 1024)
        for number in UInt64(1)...200 {
            try await journal.append(Self.entry(number))
            try await journal.append(Self.entry(1000 + number))
            await journal.settle(Self.entry(number).id)
            await journal.settle(Self.entry(1000 + number).id)
        }
        try await journal.append(Self.entry(5000))
        journal.close()
        #expect(try readFile(at: path(1), limit: 1 << 20).bytes.count == 1024, "it never had to grow")
        let next = try open(2)
        defer { next.close() }
        #expect(await left(to: next, count: 1).entries == [Self.entry(5000)])
    }

    @Test("more than the file was made for makes it grow")
    func grows() async throws {
        defer { removeFolder(at: folder) }
        let journal = try open(1, size: 1024)
        defer { journal.close() }
        for number in UInt64(1)...50 { try await journal.append(Self.entry(number, bytes: 300)) }
        #expect(await journal.unsettled().entries.count == 50)
    }

    @Test("what nobody can read is set aside in a file of its own, and of too many the oldest go")
    func setAside() async throws {
        defer { removeFolder(at: folder) }
        let journal = try open(1)
        defer { journal.close() }
        let count = UInt64(UnreadableAnswers.most) + 2
        for number in 1...count { try await journal.setAside(Self.entry(number)) }
        let kept = try names(inDirectory: "\(folder)/journal/unreadable").sorted()
        #expect(kept == (3...count).map { Self.entry($0).id.hexadecimal })
        let newest = try readFile(at: "\(folder)/journal/unreadable/\(kept[kept.count - 1])", limit: 1 << 20)
        #expect(newest.bytes == Self.entry(count).sealed.bytes && newest.permissions & 0o777 == 0o600)
        #expect(await journal.unsettled().entries.isEmpty)
    }

    @Test("a file that is no journal at all holds nothing and stops nobody")
    func garbage() async throws {
        defer { removeFolder(at: folder) }
        let first = try open(1)
        try await first.append(Self.entry(1))
        first.close()
        try await file().write((0..<512).map { UInt8(truncatingIfNeeded: $0 &* 31) }, at: 0)
        let next = try open(2)
        defer { next.close() }
        #expect(await next.unsettled().entries.isEmpty)
        try await next.append(Self.entry(9))
        #expect(await next.unsettled().entries == [Self.entry(9)])
    }
}

/// A box: a test's closures cannot hold what is not copyable.
private final class JournalPages {
    private let file: PreallocatedFile

    init(_ file: consuming PreallocatedFile) { self.file = file }

    func write(_ bytes: [UInt8], at offset: Int) throws { try file.write(bytes, at: offset) }
}
