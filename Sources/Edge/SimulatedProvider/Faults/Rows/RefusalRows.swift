// SPDX-License-Identifier: Apache-2.0
import NativeCrypto
import NativeJSON

extension FaultTable {
    /// What a spent, late or forged code, and a dead refresh token, are called.
    static let deadRows: [FaultRow] = [
        FaultRow(
            name: "dead_code", sentence: "The code is refused as PayPal refuses a used, late or forged one.",
            number: nil, places: [.exchange]
        ) { _ in FaultEffect(isProcessed: false, end: .refuse(.codeDead)) },
        dead("code_access_denied", "access_denied", "Invalid authorization code"),
        dead("code_invalid_grant", "invalid_grant", "Invalid code"),
        dead("code_invalid_request", "invalid_request", "Invalid authorization code"),
        dead("code_invalid_authz_code", "invalid_authz_code", "Authorization code is invalid"),
        .complain(
            "code_bad_verification", "The code is refused as bad_verification_code, with the status NUMBER (200).",
            status: 200, error: "bad_verification_code", "The code passed is incorrect or expired.", at: [.exchange]),
        .complain(
            "invalid_grant", "invalid_grant and nothing else, with the status NUMBER (400).", status: 400,
            error: "invalid_grant", nil),
        FaultRow(
            name: "dead_refresh_token", sentence: "The refresh token is refused as PayPal refuses a dead one.",
            number: nil, places: [.refresh]
        ) { _ in FaultEffect(isProcessed: false, end: .refuse(.refreshTokenDead)) },
        .complain(
            "refresh_unable", "The refresh token is refused as invalid_request, with the status NUMBER (400).",
            status: 400, error: "invalid_request", "Unable to refresh access token", at: [.refresh]),
        .complain(
            "bad_refresh_token", "The refresh token is refused as bad_refresh_token, with the status NUMBER (200).",
            status: 200, error: "bad_refresh_token", "The refresh token passed is incorrect or expired.",
            at: [.refresh]),
    ]

    private static func dead(_ name: String, _ error: String, _ description: String) -> FaultRow {
        .complain(
            name, "The code is refused as \(error), with the status NUMBER (400).", status: 400, error: error,
            description, at: [.exchange])
    }

    /// The gateway's own fault, never the person's.
    static let refusedRows: [FaultRow] = [
        .complain(
            "invalid_client", "invalid_client, with the status NUMBER (401).", status: 401, error: "invalid_client",
            "Client Authentication failed", at: [.exchange, .refresh, .revoke]),
        .complain(
            "unauthorized_client", "unauthorized_client, with the status NUMBER (400).", status: 400,
            error: "unauthorized_client", "The client may not use this grant type"),
        .instead("bare", "The status NUMBER (401) and no body.", number: 401, at: .callsAndRevocation) {
            SimulatedAnswer(status: $0.status, type: "text/plain", body: [])
        },
        .instead("refused_page", "The status NUMBER (403) with a firewall's HTML page.", number: 403) {
            var page = SimulatedAnswer.blockedPage
            page.status = $0.status
            page.setType("text/html; charset=utf-8")
            return page
        },
        .complain(
            "invalid_scope", "invalid_scope, with the status NUMBER (400).", status: 400, error: "invalid_scope",
            "Requested scope is not allowed"),
        .complain(
            "redirect_uri_mismatch", "invalid_request about the redirect_uri, with the status NUMBER (400).",
            status: 400, error: "invalid_request", "redirect_uri does not match", at: [.exchange]),
        .complain(
            "grant_type_missing", "invalid_request about the grant_type, with the status NUMBER (400).", status: 400,
            error: "invalid_request", "grant_type is null"),
        .complain(
            "unsupported_grant_type", "unsupported_grant_type, with the status NUMBER (400).", status: 400,
            error: "unsupported_grant_type", "Unsupported grant_type"),
        .instead(
            "echo",
            "The status NUMBER (400) with an error that repeats what was sent: code, tokens, secret, in clear, "
                + "percent-encoded and in base64.", number: 400, at: .callsAndRevocation
        ) { strike in
            let told = strike.secrets.flatMap {
                [$0, FormPairs.encode($0), Base64.standard.text(of: Array($0.utf8))]
            }
            let header = strike.call.field("authorization") ?? ""
            return SimulatedAnswer(
                status: strike.status,
                json: [
                    "error": JSONValue("invalid_scope " + (told.first ?? "")),
                    "error_description": JSONValue((told + [header]).joined(separator: " ")),
                    "correlation_id": JSONValue(told.last ?? ""),
                ])
        },
    ]
}
