// SPDX-License-Identifier: Apache-2.0

/// What answers the requests of a server. Every call comes on the loop of the request's connection.
package protocol HTTPHandler: Sendable {
    /// Asked before a byte of the body is read, and before the peer is told to send it (`Expect: 100-continue`).
    ///
    /// Nil lets the request in; a response refuses it, and ends the connection where a body would follow. What the head
    /// is given as its `admission` comes back with the request.
    func admit(_ head: inout HTTPRequestHead) -> HTTPResponse?

    /// The answer. Runs as a task that prefers the connection's loop, and runs to its end even when the peer leaves.
    func respond(to request: HTTPRequest) async -> HTTPResponse

    /// How a refusal of the server's own looks; `head` is nil where none was read.
    func refusal(_ refusal: HTTPRefusal, head: HTTPRequestHead?) -> HTTPResponse
}
