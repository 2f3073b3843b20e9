// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// What the loops of one server count together.
final class ServerCounters: Sendable {
    /// Connections that the library holds.
    let connections = Atomic<Int>(0)
    /// Requests with a complete head whose handler has not ended or whose answer is not delivered.
    let openRequests = Atomic<Int>(0)
}
