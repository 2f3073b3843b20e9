// SPDX-License-Identifier: Apache-2.0
package import NativeSystem

/// `server`: the two listeners and their limits.
package struct ServerSettings: Sendable {
    package var listen: ListenAddress
    package var adminListen: ListenAddress
    /// Host names (without port) that the admin listener answers to.
    package var adminHosts: [String]
    /// The gateway's own address for the outside, without a slash at its end; by default `http://` (`https://` with TLS) and `listen`.
    package var publicURL: String
    package var tls: TLSSettings?
    /// Networks whose `X-Forwarded-For` is believed.
    package var trustedProxies: [IPNetwork]
    package var limits: ServerLimits
    /// How long running exchanges may still take after SIGTERM.
    package var shutdownGrace: Duration
}

/// An address to listen on: `127.0.0.1:8080`, `[::1]:8080`; port 0 picks one.
package struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    /// A numeric IPv4 or IPv6 address, without brackets.
    package var host: String
    package var port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// Paths of the certificate chain and its key in PEM.
package struct TLSSettings: Sendable, Equatable {
    package var certificate: String
    package var privateKey: String

    package init(certificate: String, privateKey: String) {
        self.certificate = certificate
        self.privateKey = privateKey
    }
}

/// `server.limits`.
package struct ServerLimits: Sendable, Equatable {
    /// Largest request body in bytes.
    package var body: Int
    /// Largest head of a request (request line and all fields) in bytes.
    package var headers: Int
    /// Connections open at the same time.
    package var connections: Int
    package var headTimeout: Duration
    package var bodyTimeout: Duration
    package var idleTimeout: Duration
    package var requestsPerCaller: Rate
    package var exchangesPerSubject: Rate
    package var failedLoginsPerAddress: Rate
}

/// So many in so long: `50/s`, `10/10m`.
package struct Rate: Sendable, Equatable {
    package var count: Int
    package var period: Duration

    package init(count: Int, period: Duration) {
        self.count = count
        self.period = period
    }
}
