// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import ConsentStores
import Consents
import NativeCrypto
import NativeSystem
import Settings

/// `migrate --from sqlite:PATH [--to postgres://…]`.
struct MoveCommand: Sendable {
    let request: MoveRequest
    let place: Workplace
    let json: Bool

    func run() async -> CommandOutput {
        let server: PostgresServer
        do throws(StartFailure) { server = try target() } catch { return error.output }
        let terminal = json ? nil : place.logSink as? TerminalSink
        let move = StoreMove(from: request.source, stateDirectories: stateDirectories, to: server) { sha256($0) }
        let source = StoreLocation.file(request.source)
        return await StoreCommands.untilInterrupted { isInterrupted in
            do throws(MoveFailure) {
                let report = try await move(at: place.time.now, isInterrupted: isInterrupted) { progress in
                    terminal?.show(line: progress.line)
                }
                terminal?.erase()
                return MoveOutput.report(MoveFindings(report), json: json)
            } catch {
                terminal?.erase()
                return error.output(from: source, to: .server(server))
            }
        }
    }

    /// Where processes on the file have their locks: in the file's folder where nothing else was configured.
    private var stateDirectories: [String] {
        let configured = place.settings.stateDirectory
        guard let slash = request.source.lastIndex(of: "/") else { return [configured, "."] }
        return [configured, slash == request.source.startIndex ? "/" : String(request.source[..<slash])]
    }

    private func target() throws(StartFailure) -> PostgresServer {
        guard let url = request.target else {
            if case .server(let server) = try Gateway.location(place.settings) { return server }
            throw StartFailure("store.url is no PostgreSQL database: give one there, or with '--to'", .configuration)
        }
        let server: PostgresServer
        do throws(StoreFailure) {
            server = try PostgresServer(
                url: url, password: nil, pool: place.settings.store.pool, applicationName: "consent-gateway")
        } catch { throw StartFailure("--to: \(error)", .usage) }
        if server.hasPasswordInURL {
            throw StartFailure(
                "--to: everybody on this machine can read a password there: use PGPASSFILE, or leave '--to' out and "
                    + "give the URL as 'store.url'", .usage)
        }
        return server
    }
}

extension MoveProgress {
    fileprivate var line: String {
        let word =
            switch step {
            case .copying: "copying"
            case .comparing: "comparing"
            }
        return MoveOutput.progress(word, table: table, done: done, total: total)
    }
}

extension MoveFindings {
    fileprivate init(_ report: MoveReport) {
        let end: End =
            switch report.end {
            case .moved: .moved
            case .movedBefore(let time): .movedBefore(time.text)
            case .differs: .differs
            }
        self.init(
            end: end,
            tables: report.tables.map {
                Table(
                    name: $0.name, source: $0.source, target: $0.target, copied: $0.copied, difference: $0.difference)
            },
            source: Chains(report.sourceChains), target: Chains(report.targetChains),
            isSourceChanged: report.isSourceChanged)
    }
}

extension MoveFindings.Chains {
    fileprivate init(_ chains: MoveReport.Chains) {
        self.init(count: chains.count, root: Hexadecimal.text(of: chains.root))
    }
}

extension MoveFailure {
    fileprivate func output(from source: StoreLocation, to target: StoreLocation) -> CommandOutput {
        switch self {
        case .source(let failure): return .failure("\(source.shown): \(failure)", status: .storeOrKeys)
        case .target(let failure):
            return .failure(
                "\(target.shown): \(failure); what was copied stays, and another run goes on from there",
                status: .storeOrKeys)
        case .interrupted:
            return .failure(
                "interrupted; what was copied stays, and another run goes on from there", status: .interrupted)
        default: return .failure(obstacle(source.shown, target.shown), status: .partlyDone)
        }
    }

    private func obstacle(_ source: String, _ target: String) -> String {
        switch self {
        case .sourceIsInUse(let folder):
            "a gateway works on \(source) (its lock is in \(folder)): what it refreshes meanwhile would be lost; stop "
                + "every 'serve' and 'job' on it, and run this again"
        case .sourceIsOpen(let process):
            "another process (\(process)) has \(source) open: what it does there meanwhile would be lost; stop it, and run "
                + "this again"
        case .targetIsInUse: "a gateway works on \(target): stop it, and run this again"
        case .targetIsNotEmpty(let table):
            "\(target) is not empty ('\(table)'): consents are moved into a database that has nothing but the schema"
        case .targetIsOfAnother: "another file was moved, in part or whole, into \(target)"
        case .underWay: "another process is moving consents into \(target)"
        case .source, .target, .interrupted: "\(self)"
        }
    }
}
