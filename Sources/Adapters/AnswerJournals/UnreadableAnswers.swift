// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeSystem

/// Answers that nobody can read today, a sealed file each, named by its identifier: in the order of their names they are
/// in the order in which they came.
struct UnreadableAnswers {
    let folder: String

    /// Files that are kept; of more the oldest go. An answer has 1 MiB at most, so all of them have 200 MiB and a little.
    static let most = 200

    private var place: String { folder + "/unreadable" }

    func keep(_ entry: JournalEntry) -> Result<Void, JournalFailure> {
        do {
            try makePrivateDirectory(at: place)
            let present = try names(inDirectory: place).sorted()
            for name in present.dropLast(UnreadableAnswers.most - 1) { try removeFile(at: "\(place)/\(name)") }
            try createFile(entry.sealed.bytes, at: "\(place)/\(entry.id.hexadecimal)", permissions: 0o600)
            return .success(())
        } catch let failure as FileWritingFailure {
            return .failure(.outOfReach(failure.sentence))
        } catch {
            return .failure(.outOfReach("\(error)"))
        }
    }
}
