// SPDX-License-Identifier: Apache-2.0
package import Consents
import NativeJSON

/// Reads what a token endpoint answered. Pure: the same bytes, rules and time give the same outcome.
package struct TokenReader: Sendable {
    /// What was spent, which decides what a refusal means.
    package enum Call: Sendable { case code, refresh }

    private let rules: AnswerRules
    /// Spares work, and changes nothing of what is read.
    private let expectedScopes = ExpectedScopes()

    package init(_ rules: AnswerRules) { self.rules = rules }

    /// - Parameters:
    ///   - sent: the values that a provider's text is freed of.
    ///   - now: civil time, for a `Retry-After` that is a date.
    package func read(_ answer: ProviderAnswer, to call: Call, sent: [SecretText], now: Instant) -> TokenOutcome {
        read(answer, AnswerBody(answer.body), to: call, sent, now)
    }

    private func read(
        _ answer: ProviderAnswer, _ body: AnswerBody, to call: Call, _ sent: [SecretText], _ now: Instant
    ) -> TokenOutcome {
        if answer.isSuccess, let granted = granted(answer, body, sent) { return .granted(granted) }
        let complaint = Complaint(status: answer.status, body: body)
        let statement = StatementReader(rules, sent).read(answer, body, complaint)
        guard !answer.isSuccess || complaint.error != nil else {
            return .unreadable(SecretText(String(decoding: answer.body, as: UTF8.self)), statement)
        }
        let refusal = Refusal(complaint, call, rules)
        return outcome(of: refusal.meaning, statement, RetryAfter.delay(answer.header("retry-after"), now: now))
    }

    /// Reads an answer that ended too early: its tokens where they are whole, never a refusal. A form is never whole,
    /// for nothing in it tells where its last value ends.
    /// - Returns: unknown where nothing can be told; a 429 or 503 needs no body.
    package func read(cutOff answer: ProviderAnswer, to call: Call, sent: [SecretText], now: Instant) -> TokenOutcome {
        var body = AnswerBody(answer.body)
        if case .members(_, isForm: true) = body { body = .other }
        switch read(answer, body, to: call, sent, now) {
        case .granted(var granted):
            granted.oddities.append(Oddity.cutOff.rawValue)
            return .granted(granted)
        case .unreadable(let body, let statement) where !body.isEmpty: return .unreadable(body, statement)
        case .throttled(let statement, let delay) where !answer.isSuccess:
            return .throttled(statement, retryAfter: delay)
        default: return .unknown(.cutOff, ProviderStatement(status: answer.status))
        }
    }

    private func granted(_ answer: ProviderAnswer, _ body: AnswerBody, _ sent: [SecretText]) -> TokenAnswer? {
        guard case .members(let object, let isForm) = body else { return nil }
        var members = TokenMembers(object, rules, expectedScopes, sent: sent)
        guard var granted = members.read() else { return nil }
        var oddities = members.oddities
        if answer.status != 200 { oddities.append(.statusOtherThan200) }
        if answer.body.starts(with: [0xEF, 0xBB, 0xBF]) { oddities.append(.byteOrderMark) }
        if isForm { oddities.append(.formEncoded) }
        if !isForm, answer.mediaType?.hasSuffix("json") != true { oddities.append(.wrongContentType) }
        if object["error"]?.filledText != nil { oddities.append(.errorBesideToken) }
        granted.oddities = oddities.map(\.rawValue)
        return granted
    }

    private func outcome(of meaning: ErrorClass, _ statement: ProviderStatement, _ delay: Duration?) -> TokenOutcome {
        switch meaning {
        case .grantDead: .rejected(statement)
        case .credentials: .credentialsRefused(statement)
        case .request: .requestRefused(statement)
        case .throttled, .notProcessed: .throttled(statement, retryAfter: delay)
        case .unknown: .unknown(.serverError, statement)
        }
    }
}
