// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeJSON

/// What came of one consent that was to be refreshed.
package struct RefreshResult: Sendable, Equatable {
    package enum Outcome: Sendable, Equatable {
        /// By this process.
        case refreshed(nextAt: Instant?)
        /// Another process did it meanwhile: done.
        case refreshedElsewhere(nextAt: Instant?)
        case failed(ConsentFailure)
        /// The program was interrupted before its turn; nothing was sent.
        case notBegun
    }
    package var id: ConsentID
    package var outcome: Outcome

    package init(id: ConsentID, outcome: Outcome) {
        self.id = id
        self.outcome = outcome
    }

    /// The word that it is counted under.
    fileprivate var word: String {
        switch outcome {
        case .refreshed: "refreshed"
        case .refreshedElsewhere: "refreshed_elsewhere"
        case .failed(let failure): FailureWords(of: failure).code
        case .notBegun: "not_begun"
        }
    }
}

/// `refresh`: a line a consent, and a summary by outcome.
package enum RefreshOutput {
    /// - Parameters:
    ///   - results: in the order to be printed.
    package static func summary(_ results: [RefreshResult], json: Bool) -> CommandOutput {
        CommandOutput(text: json ? jsonDocument(document(results)) : text(results), status: status(of: results))
    }

    /// 0 if each was refreshed; 130 if some were not begun; 4 if the store was out of reach for every one; else 1.
    private static func status(of results: [RefreshResult]) -> ExitStatus {
        if results.contains(where: { $0.outcome == .notBegun }) { return .interrupted }
        let failures = results.compactMap { result in
            if case .failed(let failure) = result.outcome { failure } else { nil }
        }
        if failures.isEmpty { return .done }
        let isStoreGone = failures.count == results.count && failures.allSatisfy { $0 == .storeUnavailable }
        return isStoreGone ? .storeOrKeys : .partlyDone
    }

    /// How many by word, in the order in which the words first came.
    private static func counts(_ results: [RefreshResult]) -> [(word: String, count: Int)] {
        var counts: [(word: String, count: Int)] = []
        for word in results.map(\.word) {
            if let index = counts.firstIndex(where: { $0.word == word }) {
                counts[index].count += 1
            } else {
                counts.append((word, 1))
            }
        }
        return counts
    }

    private static func text(_ results: [RefreshResult]) -> String {
        let lines = results.map { "\($0.id)  \($0.word)\(detail(of: $0.outcome))\n" }
        let parts = counts(results).map { "\($0.count) \($0.word)" }
        let noun = results.count == 1 ? "consent" : "consents"
        let summary = parts.isEmpty ? "" : ": " + parts.joined(separator: ", ")
        return lines.joined() + "\(results.count) \(noun)\(summary)\n"
    }

    private static let notBegun = "interrupted before its turn; nothing was sent"

    private static func detail(of outcome: RefreshResult.Outcome) -> String {
        switch outcome {
        case .refreshed(let next), .refreshedElsewhere(let next):
            return next.map { ", next \($0.text)" } ?? ""
        case .notBegun: return ": " + notBegun
        case .failed(let failure):
            let words = FailureWords(of: failure)
            let retry = words.retryAfter.map { ", again in \($0) s" } ?? ""
            return ": " + words.sentence + retry + (words.statementText.map { "; it said \($0)" } ?? "")
        }
    }

    private static func document(_ results: [RefreshResult]) -> JSONValue {
        var summary = JSONValue.object()
        for (word, count) in counts(results) { summary.set(word, count) }
        var document = JSONValue.object()
        document.set("items", results.map(item))
        document.set("summary", summary)
        return document
    }

    private static func item(_ result: RefreshResult) -> JSONValue {
        var item = JSONValue.object()
        item.set("id", result.id.description)
        item.set("outcome", result.word)
        switch result.outcome {
        case .refreshed(let next), .refreshedElsewhere(let next): item.set("next_refresh_at", next?.text)
        case .notBegun: item.set("detail", notBegun)
        case .failed(let failure):
            let words = FailureWords(of: failure)
            item.set("detail", words.sentence)
            if let retryAfter = words.retryAfter { item.set("retry_after", retryAfter) }
            if let error = words.statement?.error { item.set("provider_error", error) }
            if let text = words.statement?.errorDescription { item.set("provider_error_description", text) }
            if let correlation = words.statement?.correlationID { item.set("provider_correlation_id", correlation) }
        }
        return item
    }
}
