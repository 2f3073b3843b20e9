// SPDX-License-Identifier: Apache-2.0

/// How far a store has come: which of its lives it is in, and a number that only grows (refresh.md, *Restore*).
///
/// A copy that is put back is behind what was noted outside the store. What an operator makes of it is another life.
package struct StoreEpoch: Sendable, Equatable {
    package var incarnation: UUIDv7
    /// Goes up by one every ten seconds in each process that keeps the store; never goes down, in a new life neither.
    package var number: Int64

    /// Of how many of the last steps the store knows which process took them: more than a day's of a hundred processes.
    package static let stepsKept: Int64 = 1_000_000

    package init(incarnation: UUIDv7, number: Int64) {
        self.incarnation = incarnation
        self.number = number
    }
}

/// An epoch with the moment when it was reached.
package struct EpochMark: Sendable, Equatable {
    package var epoch: StoreEpoch
    package var at: Instant

    package init(epoch: StoreEpoch, at: Instant) {
        self.epoch = epoch
        self.at = at
    }
}

/// Why nobody sends a refresh token any more: the store is older than what has happened, and its refresh tokens may be
/// spent.
package enum RefreshStop: String, Sendable, CaseIterable {
    /// It is behind what the state folder has noted, or is another store than that one.
    case behindStateFolder = "behind_state_folder"
    /// It went back while a process was working on it.
    case wentBack = "went_back"
}

/// What a store tells of its life.
package struct StoreLife: Sendable, Equatable {
    /// Nil in a store that no process has kept yet.
    package var mark: EpochMark?
    package var stop: RefreshStop?
    /// When an operator last accepted it as it is; nil where that never was.
    package var acceptedAt: Instant?

    package init(mark: EpochMark?, stop: RefreshStop?, acceptedAt: Instant?) {
        self.mark = mark
        self.stop = stop
        self.acceptedAt = acceptedAt
    }
}

/// What became of a step of the epoch.
package enum EpochStep: Sendable, Equatable {
    case reached(StoreEpoch)
    /// The store is in another life than the one that was known.
    case otherLife(StoreEpoch)
    /// Nobody may send a refresh token; the epoch stays where it is.
    case stopped(RefreshStop)
}

/// Where the epoch is noted outside the store: a file of the state folder. Both calls block on the disk.
package protocol EpochNote: Sendable {
    /// - Returns: nil where nothing was noted yet.
    func read() throws(StateFailure) -> EpochMark?
    /// It is on the disk when this returns.
    func write(_ mark: EpochMark) throws(StateFailure)
}

/// Why a file of the state folder could not be used.
package enum StateFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// With the file's name and the system's reason.
    case outOfReach(String)
    /// It holds something else than was written into it.
    case damaged(String)

    package var description: String {
        switch self {
        case .outOfReach(let reason): reason
        case .damaged(let file): "\(file) cannot be read: it holds something else than was written into it"
        }
    }
}
