// SPDX-License-Identifier: Apache-2.0
import ConsentUseCases
import Consents
import Testing

/// The tables of refresh.md, row by row.
@Suite("What an outcome means")
struct OutcomeTableTests {
    static let said = ProviderStatement(status: 400, error: "e", errorDescription: "d", correlationID: "c")
    static let answer = TokenAnswer(
        tokens: TokenSet(
            accessToken: SecretText("access-canary"), tokenType: "Bearer", refreshToken: nil, idToken: nil),
        scopes: nil, expiresIn: nil, refreshTokenExpiresIn: nil)

    static let outcomes: [(TokenOutcome, String, String)] = [
        (.granted(answer), "keep", "save"),
        (.rejected(said), "end code_rejected", "over"),
        (.credentialsRefused(said), "release provider_misconfigured", "postpone provider_misconfigured"),
        (.requestRefused(said), "release provider_misconfigured", "back off provider_misconfigured"),
        (.throttled(said, retryAfter: .seconds(9)), "release provider_unavailable", "release provider_unavailable"),
        (.throttled(said, retryAfter: nil), "release provider_unavailable", "yield provider_unavailable"),
        (.notSent(.resolve), "release provider_unavailable", "back off provider_unavailable"),
        (.notSent(.connect), "release provider_unavailable", "back off provider_unavailable"),
        (.notSent(.tls), "release provider_unavailable", "back off provider_unavailable"),
        (.notSent(.fenced), "release provider_unavailable", "release provider_unavailable"),
        (.notSent(.stopped), "release provider_unavailable", "release provider_unavailable"),
        (.notSent(.configuration), "release provider_misconfigured", "release provider_misconfigured"),
        (.unknown(.timeout, said), "end exchange_unknown", "ambiguous refresh_unknown"),
        (.unknown(.reset, said), "end exchange_unknown", "ambiguous refresh_unknown"),
        (.unknown(.serverError, said), "end exchange_unknown", "ambiguous refresh_unknown"),
        (.unreadable(SecretText("body-canary"), said), "end provider_bad_response", "ambiguous refresh_unknown"),
    ]

    @Test("an exchange's outcome decides what becomes of the code", arguments: outcomes)
    func exchange(_ outcome: TokenOutcome, _ code: String, _ grant: String) {
        let word =
            switch ExchangeStep(after: outcome) {
            case .keep: "keep"
            case .release(let failure): "release \(failure.word)"
            case .end(let verdict, _, let failure):
                verdict.rawValue == failure.word ? "end \(failure.word)" : "end \(verdict) as \(failure.word)"
            }
        #expect(word == code)
    }

    @Test("a refresh's outcome decides what becomes of the grant", arguments: outcomes)
    func refresh(_ outcome: TokenOutcome, _ code: String, _ grant: String) {
        let word =
            switch RefreshStep(after: outcome) {
            case .save: "save"
            case .over: "over"
            case .release(let failure): "release \(failure.word)"
            case .postpone(let failure): "postpone \(failure.word)"
            case .yield(let failure): "yield \(failure.word)"
            case .backOff(let failure): "back off \(failure.word)"
            case .ambiguous(let failure): "ambiguous \(failure.word)"
            }
        #expect(word == grant)
    }

    @Test("a told delay reaches the caller")
    func delay() {
        guard
            case .release(let failure) = ExchangeStep(
                after: .throttled(OutcomeTableTests.said, retryAfter: .seconds(120)))
        else {
            Issue.record("a throttled code must be released")
            return
        }
        #expect(failure == .providerUnavailable(retryAfter: .seconds(120), OutcomeTableTests.said))
    }

    @Test("the same code gets the same answer again", arguments: CodeVerdict.allCases)
    func sameAnswer(_ verdict: CodeVerdict) {
        #expect(ConsentFailure(verdict, nil).word == verdict.rawValue)
    }
}
