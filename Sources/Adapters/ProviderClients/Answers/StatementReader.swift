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

    /// The beginning of a page for people, which says who is in the way; of one that came with success its title only,
    /// for such a page may show tokens that nobody has sent yet. Of other bodies nothing: one of them may be a token
    /// answer that cannot be read.
    private func page(_ answer: ProviderAnswer, _ body: AnswerBody) -> String? {
        guard body.kind == .html else { return nil }
        let beginning = answer.body.prefix(4096)
        return answer.isSuccess ? title(of: beginning) : String(decoding: beginning, as: UTF8.self)
    }

    private func title(of page: ArraySlice<UInt8>) -> String? {
        guard let opening = StatementReader.find("<title", in: page),
            let start = page[opening.upperBound...].firstIndex(of: UInt8(ascii: ">")),
            let closing = StatementReader.find("</title", in: page[(start + 1)...])
        else { return nil }
        return String(decoding: page[(start + 1)..<closing.lowerBound], as: UTF8.self)
    }

    /// Where that text of lower-case letters stands first, in either case.
    private static func find(_ text: StaticString, in bytes: ArraySlice<UInt8>) -> Range<Int>? {
        let wanted = Array("\(text)".utf8)
        var start = bytes.startIndex
        while start + wanted.count <= bytes.endIndex {
            let end = start + wanted.count
            let isThere = zip(bytes[start..<end], wanted).allSatisfy { found, letter in
                found == letter || (0x41...0x5A).contains(found) && found | 0x20 == letter
            }
            if isThere { return start..<end }
            start += 1
        }
        return nil
    }
}
