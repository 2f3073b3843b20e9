// SPDX-License-Identifier: Apache-2.0
package import NativeEventLoop
package import NativeHTTPServer
import NativeJSON
import NativeSystem

/// A provider to try things out against: PayPal's and OpenID's endpoints over real HTTP, synthetic people, and faults
/// by name. It keeps everything in memory and forgets it when it stops.
///
/// Besides the provider's endpoints it has `/simulator/codes`, `/simulator/log` and `/simulator/faults`, which exist
/// nowhere else, and which anybody who reaches the port may use: it belongs on loopback.
package final class SimulatedProvider: Sendable {
    private let simulation: Locked<Simulation>
    private let milliseconds: @Sendable () -> Int64
    private let server: HTTPServer

    private init(
        _ simulation: Locked<Simulation>, _ milliseconds: @escaping @Sendable () -> Int64, _ server: HTTPServer
    ) {
        self.simulation = simulation
        self.milliseconds = milliseconds
        self.server = server
    }

    /// A provider that listens and answers.
    ///
    /// - Parameters:
    ///   - host: an IPv4 or IPv6 address, without brackets.
    ///   - port: 0 picks a free one.
    ///   - random: where tokens come from; `SecureGenerator()` unless a test wants to know them.
    ///   - milliseconds: the time since 1970, which moves codes and tokens to their end.
    /// - Throws: what the server throws when it cannot listen.
    package static func start(
        on group: EventLoopGroup, host: String, port: UInt16, options: SimulatorOptions,
        random: any RandomNumberGenerator & Sendable, milliseconds: @escaping @Sendable () -> Int64
    ) async throws(HTTPServerError) -> SimulatedProvider {
        let simulation = Locked(Simulation(options: options, random: random))
        let handler = SimulatorHandler(simulation: simulation, group: group, milliseconds: milliseconds)
        let limits = HTTPServerOptions.Limits(
            bodyBytes: 1 << 20, headBytes: 1 << 16, connections: 10_000, headTimeout: .seconds(10),
            bodyTimeout: .seconds(20), idleTimeout: .seconds(60))
        let server = try await HTTPServer.start(
            on: group, options: HTTPServerOptions(host: host, port: port, limits: limits, identity: nil),
            handler: handler)
        let provider = SimulatedProvider(simulation, milliseconds, server)
        let url = provider.url
        simulation.withLock { $0.issuer = url }
        return provider
    }

    package var host: String { server.host }
    package var port: UInt16 { server.port }

    /// `http://HOST:PORT`, the `api_url` of a `preset: paypal` provider and the issuer of an OpenID one.
    package var url: String { host.contains(":") ? "http://[\(host)]:\(port)" : "http://\(host):\(port)" }

    /// Stops listening and closes every connection.
    package func stop() async { await server.stop() }

    // MARK: What a person or an operator does

    /// A fresh code, as the person's consent would bring it.
    ///
    /// - Parameters:
    ///   - person: a name of `People`, or any other; nil for the first one.
    ///   - scopes: nil for those of the options.
    ///   - fault: `NAME[=NUMBER][@PLACE…]`, which the code then asks for.
    /// - Throws: `FaultError`.
    package func issueCode(
        person: String?, scopes: [String]?, fault: String?
    ) throws(FaultError) -> String {
        let asked: Fault? = if let fault { try Fault(fault, asked: .byCode) } else { nil }
        let now = milliseconds()
        return simulation.withLock {
            $0.state.issueCode(CodeRequest(person: person, scopes: scopes, fault: asked), at: now)
        }
    }

    /// A fresh code for a request that had a nonce, a code challenge of the method S256, or both; for the first person.
    package func issueCode(nonce: String?, challenge: String?) -> String {
        var request = CodeRequest(nonce: nonce)
        request.binding.challenge = challenge.map { .s256($0) }
        let (asked, now) = (request, milliseconds())
        return simulation.withLock { $0.state.issueCode(asked, at: now) }
    }

    /// Signs ID tokens with a new key from now on.
    ///
    /// - Parameter keepsOld: whether the key set holds the old ones too.
    /// - Throws: `CryptoUnavailable` where OpenSSL makes none.
    package func rotateKeys(keepsOld: Bool) throws {
        try simulation.withLock { try $0.keys?.rotate(keepsOld: keepsOld) }
    }

    /// The JSON that PayPal's SDK hands to an app with that code.
    package func sdkResponse(code: String, environment: String) -> [UInt8] {
        Simulation.authorization(code, environment).serialized(.compact)
    }

    /// Sets a fault for everybody, besides those that are set; for ever, or so many times.
    ///
    /// - Throws: `FaultError`.
    package func setFault(_ text: String, times: Int?) throws(FaultError) {
        let fault = try Fault(text, asked: .globally)
        simulation.withLock { $0.faults.add(fault, times: times) }
    }

    /// Takes every fault back that is set for everybody.
    package func clearFaults() { simulation.withLock { $0.faults.clear() } }

    // MARK: What arrived

    /// The newest requests, from old to new, as they came.
    package var recordedCalls: [SimulatedCall] { simulation.withLock { $0.log.recordedCalls } }

    package func calls(of endpoint: Endpoint) -> Int { simulation.withLock { $0.log.counts[endpoint.rawValue] ?? 0 } }

    /// How often that code arrived, and how often it was taken.
    package func sendings(ofCode text: String) -> Sendings { simulation.withLock { $0.log.codes[text] ?? Sendings() } }

    /// How often that refresh token arrived, and how often it was taken.
    package func sendings(ofRefreshToken text: String) -> Sendings {
        simulation.withLock { $0.log.refreshTokens[text] ?? Sendings() }
    }

    /// The refresh token that the code's grant has now; nil where the code was not taken.
    package func refreshToken(ofCode text: String) -> String? {
        simulation.withLock { $0.state.refreshToken(ofCode: text) }
    }

    /// Codes that arrived more than once.
    package var codesSentTwice: Int { simulation.withLock { $0.log.codesSentTwice } }

    /// Refresh tokens that arrived more than once; every `static` one does.
    package var refreshTokensSentTwice: Int { simulation.withLock { $0.log.refreshTokensSentTwice } }

    /// The newest codes that became tokens, from new to old.
    package func takenCodes(limit: Int) -> [String] {
        simulation.withLock { $0.log.codes.newest(limit).filter { $0.value.taken > 0 }.map(\.key) }
    }
}
