// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Glibc
import Lifecycle
import NativeSystem
import Observability
import Settings

/// `serve`, and what `demo` has in common with it.
enum ServeCommand {
    static func run(configPath: String?, environment: [String: String], json: Bool) async -> CommandOutput {
        do throws(StartFailure) {
            return try await run(configPath: configPath, environment: environment) { serving in
                ReadyOutput.serve(api: serving.apiAddress, admin: serving.adminAddress, json: json)
            }
        } catch {
            return error.output
        }
    }

    /// Serves until a signal, then drains.
    /// - Parameter welcome: what is printed as soon as it is ready.
    static func run(
        configPath: String?, environment: [String: String],
        welcome: @escaping @Sendable (Serving) async throws -> CommandOutput
    ) async throws(StartFailure) -> CommandOutput {
        try prepareProcess()
        let place = try Workplace.open(
            configPath: configPath, environment: environment, loops: max(1, processorCount()),
            sink: Workplace.standardError())
        defer { place.close() }
        for warning in place.loaded.warnings {
            place.log.warning("the configuration draws a warning", [Fact(.reason, "\(warning)")])
        }
        do {
            let signals = try OperatorSignals { _ in exit(ExitStatus.interrupted.rawValue) }
            defer { signals.stop() }
            let service = GatewayService(place: place, welcome: welcome)
            let group = ServiceGroup(
                [service], grace: place.settings.server.shutdownGrace, stopLimit: .seconds(10),
                sleep: { try? await place.time.sleep(until: place.time.monotonic + $0) },
                tell: { event in tell(event, place.log) })
            let isInTime = try await group.run {
                let reloading = Task {
                    for await _ in signals.reloadRequests { await service.reload(configPath, environment) }
                }
                _ = await signals.drainRequest()
                reloading.cancel()
            }
            return CommandOutput(status: isInTime ? .done : .interrupted)
        } catch let failure as StartFailure {
            throw failure
        } catch {
            throw StartFailure("the gateway cannot be started: \(error)", .partlyDone)
        }
    }

    private static func tell(_ event: ServiceEvent, _ log: Log) {
        switch event {
        case .started, .startFailed, .stopped: break
        case .draining: log.notice("the gateway drains")
        case .drained(let isInTime):
            log.notice("the gateway has drained", [Fact(.outcome, isInTime ? "all" : "in part")])
        case .stopOverdue(let name): log.warning("a part of the program did not stop", [Fact(.component, name)])
        }
    }

    /// A peer that leaves never ends the process.
    private static func prepareProcess() throws(StartFailure) {
        do {
            try ignoreBrokenPipes()
        } catch {
            throw StartFailure("the process cannot be prepared: \(error)", .partlyDone)
        }
    }
}

/// The gateway as a service that is started, drained and stopped.
private final class GatewayService: Service {
    let name = "gateway"
    private let place: Workplace
    private let welcome: @Sendable (Serving) async throws -> CommandOutput
    private let running = Locked<Serving?>(nil)

    init(place: Workplace, welcome: @escaping @Sendable (Serving) async throws -> CommandOutput) {
        self.place = place
        self.welcome = welcome
    }

    private var serving: Serving? { running.withLock { $0 } }

    func start() async throws {
        let serving = try await Serving.start(in: place)
        running.withLock { $0 = serving }
        do {
            OutputStream.standardOutput.write(try await welcome(serving).text)
        } catch {
            await serving.stop()
            throw error
        }
        place.log.notice("the gateway is ready", [Fact(.address, serving.apiAddress)])
    }

    func drain() async { await serving?.drain() }
    func stop() async { await serving?.stop() }

    /// SIGHUP: the log level, the API keys of the configuration, the certificate, secrets and the vault's keys, where they can be read.
    func reload(_ configPath: String?, _ environment: [String: String]) async {
        do {
            let loaded = try SettingsLoader.load(path: configPath, environment: environment, options: .whole)
            place.log.setLevel(LogLevel(loaded.settings.logging.level))
            await serving?.takeKeys(loaded.settings.auth.apiKeys)
            await serving?.takeCertificate(loaded.settings.server.tls)
            serving?.sessions?.readFilesAgain()
            for name in try serving?.gateway.reload(loaded.settings, environment: environment) ?? [] {
                place.log.warning(
                    "a provider has another client or endpoint than at the start; that takes a restart",
                    [Fact(.provider, name)])
            }
            place.log.notice("log level, secrets and vault keys were read again; other settings take a restart")
        } catch let failure as StartFailure {
            place.log.error(
                "secrets or the vault's keys cannot be used; the old ones stay", [Fact(.reason, failure.sentence)])
        } catch {
            place.log.error("the configuration cannot be read; the old one stays", [Fact(.reason, "\(error)")])
        }
    }
}
