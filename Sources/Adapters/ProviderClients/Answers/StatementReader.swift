// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeJSON

/// Makes of a provider's answer what may be shown, logged and kept of it.
struct StatementReader: Sendable {
    private let rules: AnswerRules
    private let scrubber: Scrubber

    init(_ rules: AnswerRules, _ sent: [SecretText]) {
        self.rules = rules
        scrubber = Scrubber(sent)
    }

    func read(_ answer: ProviderAnswer, _ body: AnswerBody, _ complaint: Complaint) -> ProviderStatement {
        ProviderStatement(
            status: answer.status, error: complaint.error.map(scrubber.clean),
            errorDescription: (complaint.description ?? page(answer, body)).map(scrubber.clean),
            correlationID: correlationID(answer, body.members).map(scrubber.clean))
    }

    private func correlationID(_ answer: ProviderAnswer, _ members: JSONValue?) -> String? {
        for name in rules.correlationMembers {
            if let text = members?[name]?.filledText { return text }
        }
        for name in rules.correlationHeaders {
            if let text = answer.header(name), !text.isEmpty { return text }
        }
        return nil
    }

    /// The beginning of a page for people, which says who is in the way. Of other bodies nothing: one of them may be
    /// a token answer that cannot be read.
    private func page(_ answer: ProviderAnswer, _ body: AnswerBody) -> String? {
        guard body.kind == .html else { return nil }
        return String(decoding: answer.body.prefix(4096), as: UTF8.self)
    }
}
