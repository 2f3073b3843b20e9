// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Glibc
import Lifecycle
import NativeCrypto
import NativeEventLoop
import NativeHTTPServer
import NativeSystem
import SimulatedProvider

/// `simulate`: the simulated provider alone.
enum SimulateCommand {
    static func run(_ wanted: SimulateOptions, json: Bool) async -> CommandOutput {
        if wanted.listsFaults { return FaultsOutput.list(FaultTable.list.map(ListedFault.init), json: json) }
        do throws(FaultError) {
            for fault in wanted.faults { _ = try Fault(fault, asked: .globally) }
        } catch {
            return .failure("--fault: \(error)", status: .usage)
        }
        do {
            guard let address = hostAndPort(wanted.listen) else {
                return .failure("--listen \(wanted.listen): it must be ADDRESS:PORT", status: .usage)
            }
            let signals = try OperatorSignals { _ in exit(ExitStatus.interrupted.rawValue) }
            defer { signals.stop() }
            let loops = try EventLoopGroup.start(name: "provider", count: 1)
            defer { loops.stop() }
            let provider = try await start(on: loops, host: address.host, port: address.port, try options(wanted))
            for fault in wanted.faults { try provider.setFault(fault, times: nil) }
            let ready = ReadyOutput.simulator(
                provider: provider.url, client: SimulatorOptions.defaultClientID,
                secret: SimulatorOptions.defaultClientSecret, json: json)
            OutputStream.standardOutput.write(ready.text)
            _ = await signals.drainRequest()
            await provider.stop()
            return CommandOutput()
        } catch HTTPServerError.cannotListen(let error) {
            return .failure("--listen \(wanted.listen): cannot listen: \(error)", status: .configuration)
        } catch {
            return .failure("the simulated provider cannot be started: \(error)", status: .partlyDone)
        }
    }

    /// A simulated provider with the machine's clock and real randomness.
    static func start(on loops: EventLoopGroup, host: String, port: UInt16, _ options: SimulatorOptions)
        async throws(HTTPServerError) -> SimulatedProvider
    {
        try await SimulatedProvider.start(
            on: loops, host: host, port: port, options: options, random: SecureGenerator(),
            milliseconds: wallClockMilliseconds)
    }

    private static func options(_ wanted: SimulateOptions) throws(CryptoUnavailable) -> SimulatorOptions {
        var options = SimulatorOptions()
        if let mode = RefreshMode(wanted.refreshTokens.text) { options.refreshMode = mode }
        options.environment = wanted.environment.rawValue
        if let algorithm = wanted.idTokens.flatMap({ IDTokenSigning(rawValue: $0.rawValue) }) {
            options.signingKeys = try SigningKeys(algorithm)
        }
        options.signsUserinfo = wanted.signsUserinfo
        return options
    }

    /// `127.0.0.1:8090` or `[::1]:8090`.
    private static func hostAndPort(_ text: String) -> (host: String, port: UInt16)? {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        return host.isEmpty ? nil : (String(host), port)
    }
}

extension ListedFault {
    init(_ fault: FaultDescription) {
        self.init(
            group: fault.group, name: fault.name, sentence: fault.sentence, places: fault.places.map(\.rawValue))
    }
}
