// SPDX-License-Identifier: Apache-2.0
import Consents

@testable import ProviderClients

/// What holds for every answer of a token endpoint and of a revocation endpoint.
enum TokenProperties {
    /// 2026-01-01T00:00:00Z.
    private static let now = Instant(milliseconds: 1_767_225_600_000)
    private static let tenYears: Int64 = 10 * 366 * 86_400

    static func check(_ input: [UInt8], _ breaches: inout Breaches) {
        let answer = AnswerText.answer(input)
        for profile in ProfileRules.all {
            for call in [TokenReader.Call.code, .refresh] {
                let reader = TokenReader(profile.answers)
                let whole = reader.read(answer, to: call, sent: StatementProperties.sent, now: now)
                check(whole, of: answer, &breaches)
                if call == .code {
                    let again = reader.read(answer, to: call, sent: StatementProperties.sent, now: now)
                    breaches.expect(words(whole) == words(again), "the same answer was read twice, as two outcomes")
                }
                if call == .refresh { checkCutOff(answer, reader, call, whole, &breaches) }
            }
            checkRevocation(answer, RevocationReader(profile.answers), &breaches)
        }
    }

    private static func check(_ outcome: TokenOutcome, of answer: ProviderAnswer, _ breaches: inout Breaches) {
        let isSuccess = (200...299).contains(answer.status)
        switch outcome {
        case .granted(let granted):
            breaches.expect(isSuccess, "tokens were taken from an answer of status \(answer.status)")
            check(granted, &breaches)
        case .rejected:
            breaches.expect(
                isSuccess || (400...499).contains(answer.status), "status \(answer.status) ended a grant")
        case .credentialsRefused, .requestRefused: breaches.expect(answer.status < 500, "a 5xx is a clear refusal")
        case .throttled(_, let delay): check(delay, &breaches)
        case .unreadable(let body, _):
            breaches.expect(isSuccess, "status \(answer.status) is an unreadable success")
            breaches.expect(answer.body.isEmpty == body.isEmpty, "the body of an unreadable answer was lost")
        case .notSent: breaches.expect(false, "an answer came to a request that was not sent")
        case .unknown: break
        }
        if let statement = statement(of: outcome) { StatementProperties.check(statement, answer.status, &breaches) }
    }

    private static func check(_ granted: TokenAnswer, _ breaches: inout Breaches) {
        let tokens = [granted.tokens.accessToken, granted.tokens.refreshToken, granted.tokens.idToken]
        for token in tokens.compactMap(\.self) {
            breaches.expect(token.reveal().utf8.contains { $0 > 0x20 }, "a token is empty or blank")
        }
        breaches.expect(!granted.tokens.tokenType.isEmpty, "a token has no type")
        breaches.expect(granted.expiresIn.map { (1...tenYears).contains($0) } ?? true, "a life is out of bounds")
        breaches.expect(
            granted.refreshTokenExpiresIn.map { (60...tenYears).contains($0) } ?? true,
            "a refresh token's life is out of bounds")
        breaches.expect(granted.scopes.map { !$0.names.isEmpty } ?? true, "scopes are told but none is there")
        for name in granted.scopes?.names ?? [] {
            breaches.expect(
                !name.isEmpty && !name.utf8.contains { $0 == 0x20 || (0x09...0x0D).contains($0) },
                "a scope holds a blank")
        }
        breaches.expect(
            granted.oddities.allSatisfy { Oddity(rawValue: $0) != nil }, "an oddity has a name of its own")
    }

    /// An answer that ended early: never a refusal, and never other tokens than the whole answer's.
    private static func checkCutOff(
        _ answer: ProviderAnswer, _ reader: TokenReader, _ call: TokenReader.Call, _ whole: TokenOutcome,
        _ breaches: inout Breaches
    ) {
        // Where the end is missing, the input's own bytes say how much of it.
        let missing = answer.body.isEmpty ? 0 : Int(answer.body[answer.body.count / 2]) % (answer.body.count + 1)
        for length in Set([answer.body.count, answer.body.count - missing]) {
            var cut = answer
            cut.body = Array(answer.body.prefix(length))
            let outcome = reader.read(cutOff: cut, to: call, sent: StatementProperties.sent, now: now)
            check(outcome, of: cut, &breaches)
            switch outcome {
            case .rejected, .credentialsRefused, .requestRefused:
                breaches.expect(false, "half an answer is a refusal")
            case .granted(let granted):
                breaches.expect(granted.oddities.contains(Oddity.cutOff.rawValue), "nobody is told of the cut")
                if case .granted(let all) = whole {
                    breaches.expect(all.tokens == granted.tokens, "half an answer brought other tokens than all of it")
                }
            default: break
            }
        }
    }

    private static func checkRevocation(
        _ answer: ProviderAnswer, _ reader: RevocationReader, _ breaches: inout Breaches
    ) {
        let outcome = reader.read(answer, sent: StatementProperties.sent, now: now)
        switch outcome {
        case .revoked, .unsupported:
            breaches.expect(
                (200...299).contains(answer.status)
                    || (400...499).contains(answer.status) && ![401, 403, 408, 425, 429].contains(answer.status),
                "status \(answer.status) says that a token is revoked")
        case .refused(let statement): StatementProperties.check(statement, answer.status, &breaches)
        case .failed(let statement, let delay):
            StatementProperties.check(statement, answer.status, &breaches)
            check(delay, &breaches)
        }
    }

    private static func check(_ delay: Duration?, _ breaches: inout Breaches) {
        guard let delay else { return }
        breaches.expect(delay >= .seconds(1) && delay <= .seconds(3600), "a delay is out of bounds")
    }

    static func statement(of outcome: TokenOutcome) -> ProviderStatement? {
        switch outcome {
        case .granted, .notSent: nil
        case .rejected(let statement), .credentialsRefused(let statement), .requestRefused(let statement),
            .throttled(let statement, _), .unknown(_, let statement), .unreadable(_, let statement):
            statement
        }
    }

    /// All of an outcome, its secrets revealed, to compare two.
    private static func words(_ outcome: TokenOutcome) -> String {
        switch outcome {
        case .granted(let granted):
            "granted \(granted) \(granted.tokens.accessToken.reveal()) \(granted.tokens.refreshToken?.reveal() ?? "-")"
        case .unreadable(let body, let statement): "unreadable \(body.reveal()) \(statement)"
        default: "\(outcome)"
        }
    }
}
