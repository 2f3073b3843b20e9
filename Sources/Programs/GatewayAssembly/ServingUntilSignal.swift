// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
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
        welcome: (Serving) async throws -> CommandOutput
    ) async throws(StartFailure) -> CommandOutput {
        try prepareProcess()
        let place = try Workplace.open(
            configPath: configPath, environment: environment, loops: max(1, processorCount()))
        defer { place.close() }
        for warning in place.loaded.warnings {
            place.log.warning("the configuration draws a warning", [Fact(.reason, "\(warning)")])
        }
        do {
            let signals = try Signals()
            defer { signals.stop() }
            let serving = try await Serving.start(in: place)
            OutputStream.standardOutput.write(try await welcome(serving).text)
            place.log.notice("the gateway is ready", [Fact(.address, serving.apiAddress)])
            let signal = await signals.waitForEnd { await reload(serving, configPath, environment) }
            place.log.notice("the gateway drains", [Fact(.signal, signal.name)])
            let isDone = await serving.drain { signals.isUrgent }
            place.log.notice("the gateway has ended", [Fact(.outcome, isDone ? "drained" : "cut off")])
            return CommandOutput(status: isDone ? .done : .interrupted)
        } catch let failure as StartFailure {
            throw failure
        } catch {
            throw StartFailure("the gateway cannot be started: \(error)", .partlyDone)
        }
    }

    /// A secret never reaches a core dump, and a peer that leaves never ends the process.
    private static func prepareProcess() throws(StartFailure) {
        do {
            try forbidCoreDumps()
            try ignoreBrokenPipes()
        } catch {
            throw StartFailure("the process cannot be prepared: \(error)", .partlyDone)
        }
    }

    /// SIGHUP: the log level and the API keys of the configuration, where it can be read.
    private static func reload(_ serving: Serving, _ configPath: String?, _ environment: [String: String]) async {
        let log = serving.place.log
        do throws(SettingsErrors) {
            let loaded = try SettingsLoader.load(path: configPath, environment: environment, options: .whole)
            log.setLevel(LogLevel(loaded.settings.logging.level))
            await serving.takeKeys(loaded.settings.auth.apiKeys)
            log.notice("log level and configured API keys were read again")
        } catch {
            log.error("the configuration cannot be read; the old one stays", [Fact(.reason, "\(error)")])
        }
    }
}
