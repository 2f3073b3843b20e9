// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeSystem

/// `withdrawn` in the state folder: a line for each grant that ended by somebody's wish, `DIGEST DAY`, the digest in 64
/// hexadecimal digits, the day as a number since 1970. 72 bytes each.
///
/// A line begins with a newline of its own, so that the piece of one that a crash or a full disk left harms no other. What
/// is older than six years, as long as evidence is kept, is dropped when the file is tidied: no copy that old may be put
/// back.
package struct WithdrawnFile: WithdrawnList {
    private let path: String

    package init(stateDirectory: String) { path = stateDirectory + "/withdrawn" }

    /// Days.
    package static let keptFor: Int64 = 6 * 366

    package func append(_ digest: BlindIndex, at now: Instant) async throws(StateFailure) {
        let line = "\n\(Hexadecimal.text(of: digest.bytes)) \(WithdrawnFile.day(of: now))\n"
        try await apart { [path] in
            do throws(SystemCallError) { return .success(try appendShared(Array(line.utf8), toFileAt: path)) } catch {
                return .failure(.outOfReach("\(path): \(error)"))
            }
        }
    }

    package func contents() async throws(StateFailure) -> Set<BlindIndex> {
        try await apart { [path] in
            do throws(FileReadingFailure) {
                let bytes = try readFile(at: path, limit: .max).bytes
                return .success(Set(WithdrawnFile.entries(in: bytes).map(\.digest)))
            } catch .notFound {
                return .success([])
            } catch {
                return .failure(.outOfReach("\(path): \(error.sentence)"))
            }
        }
    }

    /// Drops what is too old to be asked for, where the file has grown beyond a mebibyte. Blocks on the disk.
    package func tidy(at now: Instant) throws(StateFailure) {
        let oldest = WithdrawnFile.day(of: now) - WithdrawnFile.keptFor
        do throws(SystemCallError) {
            _ = try rewriteShared(fileAt: path) { bytes in
                guard bytes.count > 1 << 20 else { return nil }
                let (all, kept) = WithdrawnFile.sorted(WithdrawnFile.entries(in: bytes), from: oldest)
                return kept.count < all
                    ? kept.flatMap { Array("\n\(Hexadecimal.text(of: $0.digest.bytes)) \($0.day)\n".utf8) } : nil
            }
        } catch { throw .outOfReach("\(path): \(error)") }
    }

    private typealias Entry = (digest: BlindIndex, day: Int64)

    private static func sorted(_ entries: [Entry], from oldest: Int64) -> (all: Int, kept: [Entry]) {
        (entries.count, entries.filter { $0.day >= oldest })
    }

    private static func day(of now: Instant) -> Int64 { now.milliseconds / 86_400_000 }

    /// The whole lines.
    private static func entries(in bytes: [UInt8]) -> [Entry] {
        bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let text = Substring(decoding: line, as: UTF8.self)
            guard line.count > 65, let digest = Hexadecimal.bytes(of: text.prefix(64)),
                text.dropFirst(64).first == " ", let day = Int64(text.dropFirst(65))
            else { return nil }
            return (BlindIndex(digest), day)
        }
    }
}

/// Does the work on a thread of its own, for it waits for the disk.
private func apart<Value: Sendable>(
    _ work: @escaping @Sendable () -> Result<Value, StateFailure>
) async throws(StateFailure) -> Value {
    let outcome: Result<Value, StateFailure> = await withCheckedContinuation { continuation in
        do throws(SystemCallError) {
            try startThread(named: "withdrawn") { continuation.resume(returning: work()) }
        } catch { continuation.resume(returning: .failure(.outOfReach("\(error)"))) }
    }
    return try outcome.get()
}
