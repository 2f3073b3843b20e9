// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import ConsentStores
import ConsentUseCases
import Consents
import NativeSystem

/// `refresh --due` and `refresh --all`.
struct SweepCommand: Sendable {
    let place: Workplace
    let gateway: Gateway
    let sweep: RefreshSweep
    let json: Bool

    /// - Parameters:
    ///   - subject: the one that `sweep` names, read.
    ///   - terminal: where the progress goes; nil shows none.
    ///   - isInterrupted: from the first true on no refresh is begun.
    func run(of subject: Subject?, terminal: TerminalSink?, isInterrupted: @escaping @Sendable () -> Bool) async
        -> CommandOutput
    {
        if let name = sweep.provider, let output = gateway.refusal(of: name) { return output }
        let selection = RefreshSelection(
            subject: subject, provider: sweep.provider, isDueOnly: sweep.range == .due,
            includesFailing: sweep.includesFailing)
        let candidates = gateway.candidates(selection, limit: sweep.limit, place.time)
        return sweep.isDryRun
            ? await list(candidates) : await refresh(candidates, terminal, isInterrupted: isInterrupted)
    }

    private func list(_ candidates: RefreshCandidates) async -> CommandOutput {
        var candidates = candidates
        var records: [ConsentRecord] = []
        do throws(StoreFailure) {
            while let record = try await candidates.next() { records.append(record) }
            return SweepOutput.dryRun(records, json: json)
        } catch {
            return gateway.output(of: error)
        }
    }

    private func refresh(
        _ candidates: RefreshCandidates, _ terminal: TerminalSink?, isInterrupted: @escaping @Sendable () -> Bool
    ) async -> CommandOutput {
        let display = terminal.map { ProgressDisplay(on: $0, time: place.time) }
        let pace = SweepPace(
            concurrency: sweep.concurrency,
            spacing: sweep.startsPerSecond.map { .nanoseconds(1_000_000_000 / $0) } ?? .zero)
        let report = await SweepConsents(refresh: gateway.refresh, store: gateway.store, time: place.time)(
            candidates, pace: pace, caller: CallerIdentity(name: "command line", requestID: nil),
            isInterrupted: isInterrupted
        ) { display?.take($0) }
        display?.erase()
        let early: SweepOutput.EarlyEnd? =
            switch report.end {
            case .complete: nil
            case .interrupted: .interrupted
            case .storeUnavailable: .storeUnavailable
            }
        return SweepOutput.summary(
            report.consents.map(RefreshResult.init), early: early, store: gateway.location.shown, json: json)
    }
}

extension RefreshResult {
    fileprivate init(_ swept: SweptConsent) {
        let outcome: Outcome =
            switch swept.outcome {
            case .refreshed(let nextAt): .refreshed(nextAt: nextAt)
            case .refreshedElsewhere(let nextAt): .refreshedElsewhere(nextAt: nextAt)
            case .failed(let failure): .failed(failure)
            }
        self.init(id: swept.id, outcome: outcome)
    }
}

/// The progress line on a terminal, drawn ten times a second at most.
final class ProgressDisplay: Sendable {
    private struct State {
        var progress = RefreshProgress()
        var drawnAt: Duration?
    }

    private let terminal: TerminalSink
    private let time: SystemTimekeeper
    private let startedAt: Duration
    private let state = Locked(State())

    private static let interval = Duration.milliseconds(100)

    init(on terminal: TerminalSink, time: SystemTimekeeper) {
        self.terminal = terminal
        self.time = time
        startedAt = time.monotonic
    }

    func take(_ event: SweepEvent) {
        let now = time.monotonic
        state.withLock { state in
            switch event {
            case .found(let known, let isWhole):
                state.progress.known = known
                state.progress.isKnownWhole = isWhole
            case .ended(let isRefreshed):
                state.progress.done += 1
                if !isRefreshed { state.progress.failed += 1 }
            }
            if let drawnAt = state.drawnAt, now < drawnAt + ProgressDisplay.interval { return }
            state.progress.elapsed = now - startedAt
            terminal.show(state.progress)
            state.drawnAt = now
        }
    }

    /// The summary comes next, on the same terminal.
    func erase() { terminal.erase() }
}
