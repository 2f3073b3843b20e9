// SPDX-License-Identifier: Apache-2.0
package import Consents

/// What became of a move.
package struct MoveReport: Sendable, Equatable {
    package enum End: Sendable, Equatable {
        /// Every row is in the server's tables, and from now on they are the store.
        case moved
        /// It had been moved then; nothing was done now.
        case movedBefore(Instant)
        /// The tables do not hold what the file holds, or the file was written to meanwhile: they are not the store.
        case differs
    }

    /// One table, in both stores.
    package struct Table: Sendable, Equatable {
        package var name: String
        /// Rows of the file, and of the server.
        package var source: Int64
        package var target: Int64
        /// Rows that were copied by this run; the others had been before.
        package var copied: Int64
        /// The key of the first row that is not the same on both sides; nil where all are.
        package var difference: String?
    }

    /// Where the chains end: how many there are, and the Merkle root over their heads, as a checkpoint has it.
    package struct Chains: Sendable, Equatable {
        package var count: Int64
        package var events: Int64
        package var root: [UInt8]
    }

    package var end: End
    package var tables: [Table]
    package var sourceChains: Chains
    package var targetChains: Chains
    /// Somebody wrote to the file while it was read.
    package var isSourceChanged: Bool

    /// Whether nothing was found that speaks against the copy.
    package var isSame: Bool {
        !isSourceChanged && sourceChains == targetChains
            && tables.allSatisfy { $0.difference == nil && $0.source == $0.target }
    }

    static func movedBefore(_ at: Instant) -> MoveReport {
        let none = Chains(count: 0, events: 0, root: [])
        return MoveReport(
            end: .movedBefore(at), tables: [], sourceChains: none, targetChains: none, isSourceChanged: false)
    }
}

/// How far a move has come.
package struct MoveProgress: Sendable, Equatable {
    package enum Step: Sendable, Equatable { case copying, comparing }

    package var step: Step
    package var table: String
    package var done: Int64
    package var total: Int64
}

/// Why a move did not come to its end. What was copied stays, and another run goes on from there.
package enum MoveFailure: Error, Sendable, Equatable {
    case source(StoreFailure)
    case target(StoreFailure)
    /// A process has the file open; the folder of the lock that tells so.
    case sourceIsInUse(String)
    /// Another process has the file open, whose lock is in no folder that was looked at.
    case sourceIsOpen(process: Int32)
    case targetIsInUse
    /// The server's tables hold something that this move did not bring.
    case targetIsNotEmpty(table: String)
    /// Another file is being moved into these tables, or was.
    case targetIsOfAnother
    /// Another process is at it.
    case underWay
    case interrupted
}
