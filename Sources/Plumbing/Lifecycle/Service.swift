// SPDX-License-Identifier: Apache-2.0

/// A part of the program that is started once and stopped once, such as a server or a scheduler.
package protocol Service: Sendable {
    /// For the log.
    var name: String { get }
    /// Returns when it is ready for work.
    func start() async throws
    /// Takes nothing new and returns when what runs has ended. Cancelled when the grace is over; then `stop` comes.
    func drain() async
    /// Lets go of everything at once. Comes after `drain`, whether or not that was done in time.
    func stop() async
}

/// What a group did, for the log.
package enum ServiceEvent: Sendable, Equatable {
    case started(String)
    case startFailed(String)
    case draining
    /// True where all services were done within the grace.
    case drained(inTime: Bool)
    case stopped(String)
    /// A service that did not stop within its limit and was left behind.
    case stopOverdue(String)
}
