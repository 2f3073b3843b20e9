// SPDX-License-Identifier: Apache-2.0
import NativeEventLoop
import NativeHTTPServer
import NativeSystem

/// Answers every token request and every userinfo request with the same bytes; where it counts, refresh tokens are
/// numbered, each answer has one of its own, and `GET /counts` says how many codes and tokens came, and came twice.
struct Provider: HTTPHandler {
    let loops: EventLoopGroup
    let delay: Duration
    /// Nil where nothing is counted.
    let presented: Presented?

    func respond(to request: HTTPRequest) async -> HTTPResponse {
        if delay > .zero { try? await loops.current?.sleep(until: .now().advanced(by: delay)) }
        let body: [UInt8] =
            if request.method == "POST" {
                presented?.tokens(for: request.body) ?? Provider.tokens
            } else if let presented, request.rawPath == Provider.counts {
                presented.report
            } else {
                Provider.person
            }
        return HTTPResponse(
            status: 200, headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")], body: body)
    }

    private static let counts = Array("/counts".utf8)
    /// As long as PayPal's are.
    static let tokens = Array(
        """
        {"scope":"openid profile email address phone https://uri.paypal.com/services/paypalattributes",\
        "access_token":"A21AA\(String(repeating: "x", count: 92))","token_type":"Bearer","app_id":"APP-80W284485P519543T",\
        "expires_in":28800,"refresh_token":"R103.\(String(repeating: "y", count: 80))","nonce":"2026-01-01T00:00:00Zxyz"}
        """.utf8)
    static let person = Array(
        """
        {"user_id":"https://www.paypal.com/webapps/auth/identity/user/mWq6_1sU85v5EG9yHdPxJRrhGHrnMJ-1PQKtX6pcsmA",\
        "sub":"https://www.paypal.com/webapps/auth/identity/user/mWq6_1sU85v5EG9yHdPxJRrhGHrnMJ-1PQKtX6pcsmA",\
        "name":"Ada Example","given_name":"Ada","family_name":"Example","email":"ada@shop.test","email_verified":true,\
        "phone_number":"+1 4082560980","address":{"street_address":"1 Main St","locality":"San Jose","region":"CA",\
        "postal_code":"95131","country":"US"},"verified_account":"true","payer_id":"WDJJHEBZ4X2LY","zoneinfo":\
        "America/Los_Angeles","locale":"en_US"}
        """.utf8)
}
