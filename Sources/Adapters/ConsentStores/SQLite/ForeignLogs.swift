// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeSQLite
internal import NativeSystem

/// What a database's first page tells: a number that goes up every ten seconds (`user_version`), and SQLite's own number
/// for the schema (`schema_version`, sqlite.org/fileformat2.html, section 1.3).
struct FirstPage: Equatable {
    var mark: UInt32
    var schema: UInt32
}

/// Refuses a write-ahead log that was written for another copy of the database than the one that lies beside it: SQLite
/// would play it into that copy, and break what is in it.
///
/// A log begins when all that came before is in the database. So a database from which its log can go on has at least the
/// log's first number less one, and at most its last; and a copy that `VACUUM INTO` made has a schema number of its own.
/// A log in which the first page does not occur tells nothing, nor one beyond 64 MiB.
/// - Throws: `outOfReach`.
func refuseForeignLog(of path: String) throws(StoreFailure) {
    // Twice: a living process may empty its log between the two looks.
    for _ in 0..<2 {
        guard let base = firstPage(of: path), let log = logContents(of: path),
            let pages = WriteAheadLog.firstPages(in: log)
        else { return }
        let isBase = base.mark &+ 1 >= pages.first.mark && base.mark <= pages.last.mark
        if isBase, base.schema <= pages.last.schema { return }
    }
    throw .outOfReach(
        "\(path)-wal belongs to another copy of the database; where the database came back from a backup, remove "
            + "\(path)-wal and \(path)-shm, then start again; where it did not, put back the database that they were with"
    )
}

private func firstPage(of path: String) -> FirstPage? {
    guard (try? identity(of: path + "-wal")) ?? nil != nil,
        let connection = try? SQLiteConnection(path: path, access: .fileAlone, busyTimeout: 0)
    else { return nil }
    func number(_ query: SQLiteQuery) -> UInt32? {
        guard let row = try? connection.prepare(query), (try? row.step()) == true else { return nil }
        return UInt32(truncatingIfNeeded: row.integer())
    }
    guard let mark = number(FirstPageQueries.mark), let schema = number(FirstPageQueries.schema) else { return nil }
    return FirstPage(mark: mark, schema: schema)
}

private func logContents(of path: String) -> [UInt8]? {
    try? readFile(at: path + "-wal", limit: 64 << 20).bytes
}

private enum FirstPageQueries {
    static let mark = SQLiteQuery("PRAGMA user_version")
    static let schema = SQLiteQuery("PRAGMA schema_version")
}

/// A write-ahead log's bytes (sqlite.org/fileformat2.html, section 4).
enum WriteAheadLog {
    private static let headerLength = 32
    private static let frameHeaderLength = 24

    /// The first page as the first and as the last committed transaction that changed it left it; nil where none did.
    static func firstPages(in log: [UInt8]) -> (first: FirstPage, last: FirstPage)? {
        guard log.count > headerLength, word(log, 0) & 0xFFFF_FFFE == 0x377F_0682 else { return nil }
        let pageSize = Int(word(log, 8))
        guard pageSize >= 512, pageSize <= 65536 else { return nil }
        let isBigEndian = word(log, 0) & 1 == 1
        var sum = checksum(log, 0..<24, from: (0, 0), isBigEndian)
        guard sum == (word(log, 24), word(log, 28)) else { return nil }
        var found: (first: FirstPage, last: FirstPage)?
        var pending: FirstPage?
        var frame = headerLength
        while frame + frameHeaderLength + pageSize <= log.count {
            let page = frame + frameHeaderLength
            // What an earlier log left behind the end has other salts; what a crash left half has another checksum.
            guard word(log, frame + 8) == word(log, 16), word(log, frame + 12) == word(log, 20) else { break }
            sum = checksum(log, frame..<(frame + 8), from: sum, isBigEndian)
            sum = checksum(log, page..<(page + pageSize), from: sum, isBigEndian)
            guard sum == (word(log, frame + 16), word(log, frame + 20)) else { break }
            if word(log, frame) == 1 {
                pending = FirstPage(mark: word(log, page + 60), schema: word(log, page + 40))
            }
            if word(log, frame + 4) != 0, let committed = pending { found = (found?.first ?? committed, committed) }
            frame = page + pageSize
        }
        return found
    }

    private static func checksum(
        _ log: [UInt8], _ range: Range<Int>, from start: (UInt32, UInt32), _ isBigEndian: Bool
    ) -> (UInt32, UInt32) {
        var (one, two) = start
        for offset in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
            let (left, right) = (word(log, offset), word(log, offset + 4))
            one = one &+ (isBigEndian ? left : left.byteSwapped) &+ two
            two = two &+ (isBigEndian ? right : right.byteSwapped) &+ one
        }
        return (one, two)
    }

    /// Most significant byte first.
    private static func word(_ log: [UInt8], _ offset: Int) -> UInt32 {
        UInt32(log[offset]) << 24 | UInt32(log[offset + 1]) << 16 | UInt32(log[offset + 2]) << 8
            | UInt32(log[offset + 3])
    }
}
