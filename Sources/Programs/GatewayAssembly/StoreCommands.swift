// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import ConsentStores
import ConsentUseCases
import Consents
import Glibc
import Lifecycle
import NativeSystem
import Observability
import Settings

/// The commands that work on the store while `serve` may be running.
enum StoreCommands {
    /// `refresh ID…`: each once, one after the other, its answer waited for to the end. The first SIGINT or SIGTERM lets
    /// the one under way come to its end and begins no other; the second ends the program.
    static func refresh(_ ids: [ConsentID], in place: Workplace, _ gateway: Gateway, json: Bool) async
        -> CommandOutput
    {
        let signals: OperatorSignals
        do {
            signals = try OperatorSignals { _ in exit(ExitStatus.interrupted.rawValue) }
        } catch {
            return .failure("the process's signals cannot be watched: \(error)", status: .partlyDone)
        }
        defer { signals.stop() }
        let isInterrupted = Locked(false)
        let watching = Task { if await signals.drainRequest() != nil { isInterrupted.withLock { $0 = true } } }
        defer { watching.cancel() }
        return RefreshOutput.summary(
            await refresh(ids, gateway) { isInterrupted.withLock { $0 } }, json: json)
    }

    private static func refresh(_ ids: [ConsentID], _ gateway: Gateway, isInterrupted: () -> Bool) async
        -> [RefreshResult]
    {
        var results: [RefreshResult] = []
        let caller = CallerIdentity(name: "command line", requestID: nil)
        for id in ids {
            if isInterrupted() {
                results.append(RefreshResult(id: id, outcome: .notBegun))
                continue
            }
            do throws(ConsentFailure) {
                let consent = try await gateway.refresh.toTheEnd(id, caller: caller)
                results.append(RefreshResult(id: id, outcome: .refreshed(nextAt: consent.record.timing.dueAt)))
            } catch {
                results.append(RefreshResult(id: id, outcome: .failed(error)))
            }
        }
        return results
    }

    /// `consents show ID`.
    static func show(_ id: ConsentID, _ gateway: Gateway, json: Bool) async -> CommandOutput {
        do throws(ConsentFailure) {
            return ConsentOutput.show(try await gateway.read(id), json: json)
        } catch {
            switch error {
            case .notFound: return .failure("there is no consent \(id)", status: .partlyDone)
            case .storeUnavailable: return .failure("the store cannot be read", status: .storeOrKeys)
            default:
                return .failure("the consent \(id) cannot be opened with the vault's keys", status: .storeOrKeys)
            }
        }
    }

    /// `keys api create NAME`: the key goes to its file before the store knows it, so that none is lost.
    static func createKey(_ request: NewAPIKey, in place: Workplace, _ gateway: Gateway, json: Bool) async
        -> CommandOutput
    {
        let made = APIKey.make(
            name: request.name, scopes: Set(request.scopes), lifetime: request.lifetime, now: place.time.now)
        do {
            if let path = request.outputPath {
                try createFile(KeyOutput.file(of: made.text), at: path, permissions: 0o600)
            }
            try await gateway.store.createAPIKey(made.key)
            return KeyOutput.apiKeyMade(request, key: made.text, expiresAt: made.key.expiresAt, json: json)
        } catch StoreFailure.nameTaken {
            return KeyOutput.nameTaken(request.name)
        } catch let failure as FileWritingFailure {
            return .failure("\(request.outputPath ?? ""): \(failure.sentence)", status: .partlyDone)
        } catch {
            return .failure("\(error)", status: .storeOrKeys)
        }
    }

    /// `migrate` and `migrate --status`.
    static func migrate(statusOnly: Bool, in place: Workplace, json: Bool) -> CommandOutput {
        do throws(StartFailure) {
            let path = try Gateway.sqlitePath(place.settings)
            do throws(StoreFailure) {
                return try migrate(path, statusOnly: statusOnly, at: place.time.now, json: json)
            } catch {
                throw StartFailure(error, at: path)
            }
        } catch {
            return error.output
        }
    }

    private static func migrate(_ path: String, statusOnly: Bool, at now: Instant, json: Bool) throws(StoreFailure)
        -> CommandOutput
    {
        let wait = SQLiteStoreLimits.standard.busyTimeout
        let status = try SQLiteMigrations.status(path: path, busyTimeout: wait)
        if statusOnly { return MigrationOutput.status(found: status.found, known: status.known, json: json) }
        try SQLiteMigrations.apply(path: path, busyTimeout: wait, at: now)
        return MigrationOutput.applied(from: status.found, to: status.known, json: json)
    }
}
