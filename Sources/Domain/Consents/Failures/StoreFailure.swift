// SPDX-License-Identifier: Apache-2.0
/// Why the store did not do it, by what to do next. Never counted against a grant.
package enum StoreFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// Locked, full or busy: nothing was written; try again later.
    case retryLater(String)
    /// The file or server cannot be reached or is not what it was.
    case outOfReach(String)
    /// Made by a newer program.
    case schemaIsNewer(found: Int, known: Int)
    /// `migrate` has not been run.
    case schemaIsOlder(found: Int, known: Int)
    /// What lies in the store cannot be read.
    case damaged(String)
    case nameTaken

    package var description: String {
        switch self {
        case .retryLater(let detail): "the store takes no writes now: \(detail)"
        case .outOfReach(let detail): "the store cannot be reached: \(detail)"
        case .schemaIsNewer(let found, let known):
            "the store's schema is version \(found), this program knows \(known): run the newer program"
        case .schemaIsOlder(let found, let known):
            "the store's schema is version \(found), this program needs \(known): run `consent-gateway migrate`"
        case .damaged(let detail): "the store is damaged: \(detail)"
        case .nameTaken: "the name is taken"
        }
    }
}
