// SPDX-License-Identifier: Apache-2.0
import NativeJSON

/// In whose words an endpoint answers.
enum Dialect: Sendable {
    /// As PayPal's documentation and public reports show it; `correlation` is the identifier of the call.
    case paypal(correlation: String)
    /// As RFC 6749 section 5 has it.
    case standard

    func answer(_ refusal: Refusal) -> SimulatedAnswer {
        switch self {
        case .paypal(let correlation): Self.paypalAnswer(refusal, correlation)
        case .standard: Self.standardAnswer(refusal)
        }
    }

    /// An error by its name, wherever it stands in the standard.
    func answer(status: Int, error: String, description: String?) -> SimulatedAnswer {
        switch self {
        case .paypal(let correlation): return Self.error(status, error, description, correlation)
        case .standard:
            var body: JSONValue = ["error": JSONValue(error)]
            if let description { body.set("error_description", description) }
            return SimulatedAnswer(status: status, json: body)
        }
    }

    private static func paypalAnswer(_ refusal: Refusal, _ correlation: String) -> SimulatedAnswer {
        switch refusal {
        case .clientUnknown:
            error(401, "invalid_client", "Client Authentication failed", correlation)
        case .codeDead:
            error(400, "access_denied", "Invalid authorization code", correlation)
        case .codeBoundElsewhere:
            error(400, "invalid_request", "Redirect uri mismatch", correlation)
        case .refreshTokenDead:
            error(400, "invalid_grant", "Invalid refresh token", correlation)
        case .accessTokenDead:
            error(401, "invalid_token", "The token passed in was not found in the system", correlation)
                .adding("WWW-Authenticate", "Bearer error=\"invalid_token\"")
        case .grantTypeUnsupported:
            error(400, "unsupported_grant_type", "Unsupported grant_type", correlation)
        case .requestInvalid(let reason):
            error(400, "invalid_request", reason, correlation)
        }
    }

    private static func error(
        _ status: Int, _ error: String, _ description: String?, _ correlation: String
    ) -> SimulatedAnswer {
        var body: JSONValue = ["error": JSONValue(error)]
        if let description { body.set("error_description", description) }
        body.set("correlation_id", correlation)
        if status == 400 { body.set("information_link", "https://developer.paypal.com/docs/api/#errors") }
        return SimulatedAnswer(status: status, json: body).adding("Paypal-Debug-Id", correlation)
    }

    private static func standardAnswer(_ refusal: Refusal) -> SimulatedAnswer {
        func answer(_ status: Int, _ error: String, _ description: String) -> SimulatedAnswer {
            SimulatedAnswer(
                status: status, json: ["error": JSONValue(error), "error_description": JSONValue(description)])
        }
        return switch refusal {
        case .clientUnknown:
            answer(401, "invalid_client", "client authentication failed")
                .adding("WWW-Authenticate", "Basic realm=\"simulated provider\"")
        case .codeDead, .codeBoundElsewhere:
            answer(400, "invalid_grant", "the code is expired, used, or not for this request")
        case .refreshTokenDead:
            answer(400, "invalid_grant", "the refresh token is expired, used or revoked")
        case .accessTokenDead:
            answer(401, "invalid_token", "the access token is expired or revoked")
                .adding("WWW-Authenticate", "Bearer error=\"invalid_token\"")
        case .grantTypeUnsupported: answer(400, "unsupported_grant_type", "this grant type is not known here")
        case .requestInvalid(let reason): answer(400, "invalid_request", reason)
        }
    }

    /// The answer to an exchange or a refresh. PayPal writes the lifetime of a refreshed token as text.
    ///
    /// - Parameter idToken: for the standard's words alone; PayPal's SDK codes bring none.
    func answer(
        _ issued: ProviderState.Issued, isRefresh: Bool, nonce: String, idToken: String?
    ) -> SimulatedAnswer {
        let lifetime = JSONValue(Int64(issued.lifetime))
        var body: JSONValue = ["scope": JSONValue(issued.scopes.joined(separator: " "))]
        body.set("access_token", issued.accessToken)
        body.set("token_type", "Bearer")
        switch self {
        case .standard:
            body.set("expires_in", lifetime)
            if let idToken { body.set("id_token", idToken) }
        case .paypal:
            body.set("app_id", "APP-80W284485P519543T")
            body.set("expires_in", isRefresh ? JSONValue(String(issued.lifetime)) : lifetime)
            body.set("nonce", "2026-01-01T00:00:00Z" + nonce)
        }
        if let refreshToken = issued.refreshToken { body.set("refresh_token", refreshToken) }
        let answer = SimulatedAnswer(status: 200, json: body)
        if case .paypal(let correlation) = self { return answer.adding("Paypal-Debug-Id", correlation) }
        return answer
    }
}
