// SPDX-License-Identifier: Apache-2.0

/// An answer as bytes on the wire, past the library: cut off, with a length that lies, in another version, or no HTTP
/// at all. For servers that simulate a peer like that; on plain HTTP only, and always a connection's last one.
package struct RawAnswer: Sendable, Equatable {
    package enum Step: Sendable, Equatable {
        /// All of them, as fast as the peer takes them.
        case bytes([UInt8])
        /// One at a time, with a pause after each.
        case drip([UInt8], every: Duration)
        /// Again and again, for the server's `idleTimeout` or until the peer has gone.
        case endless([UInt8])
        case wait(Duration)
    }

    package enum End: Sendable, Equatable {
        /// The stream ends in order.
        case close
        /// The connection is reset (RST), and what the peer has not read yet is lost.
        case reset
    }

    package var steps: [Step]
    package var end: End

    package init(_ steps: [Step], end: End = .close) {
        self.steps = steps
        self.end = end
    }

    /// The pauses that it asks for itself.
    var pauses: Duration {
        steps.reduce(.zero) { sum, step in
            switch step {
            case .bytes, .endless: sum
            case .drip(let bytes, let pause): sum + pause * bytes.count
            case .wait(let pause): sum + pause
            }
        }
    }
}
