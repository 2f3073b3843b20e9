// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeSystem

/// `epoch` in the state folder: how far the store has come, in one line of text, replaced whole and synced.
///
/// Several processes write it. Where two do at the same time the older number may stay for ten seconds; a store that is
/// ahead of the file is in order.
package struct EpochFile: EpochNote {
    private let path: String

    package init(stateDirectory: String) { path = stateDirectory + "/epoch" }

    private static let word = "epoch1"
    private static let limit = 256

    package func read() throws(StateFailure) -> EpochMark? {
        let bytes: [UInt8]
        do throws(FileReadingFailure) {
            bytes = try readFile(at: path, limit: EpochFile.limit).bytes
        } catch .notFound {
            return nil
        } catch {
            throw .outOfReach("\(path): \(error.sentence)")
        }
        guard let mark = EpochFile.mark(String(decoding: bytes, as: UTF8.self)) else { throw .damaged(path) }
        return mark
    }

    package func write(_ mark: EpochMark) throws(StateFailure) {
        do throws(FileWritingFailure) {
            try replaceFile(Array(EpochFile.text(mark).utf8), at: path, permissions: 0o600)
        } catch { throw .outOfReach("\(path): \(error.sentence)") }
    }

    /// `epoch1 INCARNATION NUMBER MILLISECONDS`, and a newline.
    private static func text(_ mark: EpochMark) -> String {
        "\(word) \(mark.epoch.incarnation.hexadecimal) \(mark.epoch.number) \(mark.at.milliseconds)\n"
    }

    private static func mark(_ text: String) -> EpochMark? {
        guard text.hasSuffix("\n") else { return nil }
        let parts = text.dropLast().split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == word, let incarnation = UUIDv7(hexadecimal: parts[1]),
            let number = Int64(parts[2]), let at = Int64(parts[3])
        else { return nil }
        return EpochMark(
            epoch: StoreEpoch(incarnation: incarnation, number: number), at: Instant(milliseconds: at))
    }
}
