// SPDX-License-Identifier: Apache-2.0
/// How the program ends (contract, section 3).
package enum ExitStatus: Int32, Sendable, CaseIterable {
    /// All done; a refresh that another process did meanwhile is done.
    case done = 0
    /// Done in part, or a check failed: what was printed says which.
    case partlyDone = 1
    /// The command line cannot be understood.
    case usage = 2
    /// The configuration cannot be used.
    case configuration = 3
    /// The store or the keys are out of reach.
    case storeOrKeys = 4
    /// A signal ended it.
    case interrupted = 130
}
