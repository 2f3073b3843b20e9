// SPDX-License-Identifier: Apache-2.0

/// Where a server listens, and the limits of what it takes.
package struct HTTPServerOptions: Sendable {
    /// An IPv4 or IPv6 address, without brackets.
    package var host: String
    /// 0 picks a free one, the same for all loops.
    package var port: UInt16
    package var limits: Limits
    /// What it shows to its peers; nil speaks plain HTTP.
    package var identity: TLSIdentity?

    /// Bounds on what one peer, and all peers together, may cost.
    package struct Limits: Sendable {
        /// Bytes of a body, after dechunking.
        package var bodyBytes: Int
        /// Bytes of a head: request line and field lines.
        package var headBytes: Int
        /// Open connections, of all loops together.
        package var connections: Int
        /// From the connection (or a later request's first line) to the end of the head.
        package var headTimeout: Duration
        /// From the end of the head to the end of the body.
        package var bodyTimeout: Duration
        /// From an answer to the next request's first line, and how long a peer may take to receive an answer.
        package var idleTimeout: Duration
        /// For how long a request that has come waits at most for a loop that is busy (``StartQueue``).
        package var startPatience = Duration.seconds(1)

        package init(
            bodyBytes: Int, headBytes: Int, connections: Int,
            headTimeout: Duration, bodyTimeout: Duration, idleTimeout: Duration
        ) {
            self.bodyBytes = bodyBytes
            self.headBytes = headBytes
            self.connections = connections
            self.headTimeout = headTimeout
            self.bodyTimeout = bodyTimeout
            self.idleTimeout = idleTimeout
        }
    }

    package init(host: String, port: UInt16, limits: Limits, identity: TLSIdentity?) {
        self.host = host
        self.port = port
        self.limits = limits
        self.identity = identity
    }
}
