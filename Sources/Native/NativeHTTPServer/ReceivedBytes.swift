// SPDX-License-Identifier: Apache-2.0

/// What the library has received on a connection since the last head, as it came; bodies are left out.
///
/// The library's parser writes over its buffer, and takes for line ends what is none. This copy shows what was sent,
/// wherever packets were cut and however many requests were sent ahead.
struct ReceivedBytes {
    private(set) var bytes: [UInt8] = []
    /// Bytes of the body that are still to come.
    private var bodyRemaining = 0
    /// Whether nothing more is kept: the next head's place in the stream is unknown.
    private var hasLostTrack = false

    /// - Parameter limit: no more is kept; the library reads less ahead than that.
    mutating func append(_ part: UnsafeRawBufferPointer, limit: Int) {
        guard !hasLostTrack else { return }
        let skipped = min(bodyRemaining, part.count)
        bodyRemaining -= skipped
        guard bytes.count + part.count - skipped <= limit else { return loseTrack() }
        unsafe bytes.append(contentsOf: part[skipped...])
    }

    /// Lets go of a head, which ends before `end`, and of the body behind it.
    mutating func drop(headEnd end: Int, body: HTTPRequestHead.BodyLength) {
        switch body {
        case .none: bytes.removeFirst(end)
        case .chunked: loseTrack()
        case .bytes(let length):
            let arrived = min(length, bytes.count - end)
            bodyRemaining = length - arrived
            bytes.removeFirst(end + arrived)
        }
    }

    /// From here on every head on the connection is refused.
    mutating func loseTrack() {
        hasLostTrack = true
        bytes = []
    }
}
