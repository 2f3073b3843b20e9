// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import ConsentStores
import Consents
import HTTPEdge
import NativeEventLoop
import NativeSystem
import Observability
import Settings
import TokenVaults

/// What every command works with: the configuration, the loops, the clock and the log.
struct Workplace: Sendable {
    let loaded: LoadedSettings
    let environment: [String: String]
    let loops: EventLoopGroup
    let time: SystemTimekeeper
    let entropy: SystemEntropy
    let metrics: Metrics
    let log: Log
    let logSink: any LogSink

    var settings: GatewaySettings { loaded.settings }

    /// Reads the configuration and starts the loops.
    /// - Parameters:
    ///   - loops: how many threads.
    ///   - sink: where log lines go.
    /// - Throws: `StartFailure` with status 3 for the configuration.
    static func open(
        configPath: String?, environment: [String: String], loops count: Int, sink: any LogSink
    ) throws(StartFailure) -> Workplace {
        let loaded: LoadedSettings
        do throws(SettingsErrors) {
            loaded = try SettingsLoader.load(path: configPath, environment: environment, options: .whole)
        } catch {
            throw StartFailure(error)
        }
        do {
            let loops = try EventLoopGroup.start(name: "loop", count: count)
            let log = Log(
                level: LogLevel(loaded.settings.logging.level), format: LogFormat(loaded.settings.logging.format),
                sink: sink, now: wallClockMilliseconds)
            return Workplace(
                loaded: loaded, environment: environment, loops: loops,
                time: SystemTimekeeper(loops: loops, store: StoreClock()), entropy: SystemEntropy(),
                metrics: Metrics(MetricWords(loaded.settings)), log: log, logSink: sink)
        } catch {
            throw StartFailure("the program's threads cannot be started: \(error)", .partlyDone)
        }
    }

    /// The log of a program; where a person watches it, below the lines there is room for one that moves.
    static func standardError() throws(StartFailure) -> any LogSink {
        do {
            return OutputStream.standardError.isTerminal
                ? TerminalSink(try LineWriter(descriptor: 2, capacity: 4 << 20)) : try StandardErrorSink()
        } catch {
            throw StartFailure("the log cannot be started: \(error)", .partlyDone)
        }
    }

    /// The last lines are out and the threads have ended when it returns.
    func close() {
        loops.stop()
        logSink.flush(within: .seconds(2))
    }
}

extension MetricWords {
    /// What the labels of this configuration's metrics can read.
    init(_ settings: GatewaySettings) {
        self.init(
            routes: GatewayAPI.routePatterns, codes: Problem.codes, providers: settings.providers.map(\.name),
            version: Program.version)
    }
}

extension LogLevel {
    init(_ level: LoggingSettings.Level) {
        self =
            switch level {
            case .debug: .debug
            case .info: .info
            case .warning: .warning
            case .error: .error
            }
    }
}

extension LogFormat {
    init(_ format: LoggingSettings.Format) {
        self =
            switch format {
            case .text: .text
            case .json: .json
            }
    }
}
