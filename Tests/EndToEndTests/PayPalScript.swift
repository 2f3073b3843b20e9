// SPDX-License-Identifier: Apache-2.0
import NativeSystem
import TestSupport

/// A provider with PayPal's answers, which a test bends call by call.
final class PayPalScript: Sendable {
    enum Call: Sendable { case exchange, refresh, userinfo, revoke }
    typealias Bend = @Sendable (Call, _ number: Int, ScriptedRequest) -> ScriptedReply?

    let provider: ScriptedProvider
    private let counts: Locked<[Call: Int]>

    /// - Parameter bend: another reply for a call, which is the `number`-th of its kind from 1; nil for PayPal's.
    init(_ bend: @escaping Bend = { _, _, _ in nil }) throws {
        let counts = Locked<[Call: Int]>([:])
        provider = try ScriptedProvider { request in
            let call = PayPalScript.call(request)
            let number = counts.withLock { counts in
                counts[call, default: 0] += 1
                return counts[call, default: 0]
            }
            return bend(call, number, request) ?? PayPalScript.reply(call, number)
        }
        self.counts = counts
    }

    func count(of call: Call) -> Int { counts.withLock { $0[call] ?? 0 } }

    /// The requests of one kind, in order.
    func requests(of call: Call) -> [ScriptedRequest] { provider.requests.filter { PayPalScript.call($0) == call } }

    static func call(_ request: ScriptedRequest) -> Call {
        if request.line.hasPrefix("GET") { return .userinfo }
        if request.line.contains("/revoke") { return .revoke }
        return request.body.contains("grant_type=refresh_token") ? .refresh : .exchange
    }

    static func tokens(_ number: Int, refreshToken: String? = "R23AA-refresh-canary") -> String {
        let refresh = refreshToken.map { #","refresh_token":"\#($0)""# } ?? ""
        return #"{"scope":"openid profile email address phone","access_token":"A23AA-access-canary-\#(number)","#
            + #""token_type":"Bearer","app_id":"APP-1","expires_in":28800\#(refresh)}"#
    }

    static func person(_ number: Int) -> String {
        #"{"user_id":"https://www.paypal.com/webapps/auth/identity/user/person-\#(number)","name":"Ada Canary","#
            + #""email":"ada@canary.example","verified":"true","verified_account":"true","#
            + #""address":{"street_address":"1 Main St","locality":"San Jose","region":"CA","postal_code":"95131","#
            + #""country":"US"},"phone_number":"4082560980"}"#
    }

    static func reply(_ call: Call, _ number: Int) -> ScriptedReply {
        switch call {
        case .exchange: .http(200, tokens(number))
        case .refresh: .http(200, tokens(1000 + number, refreshToken: nil))
        case .userinfo: .http(200, person(1))
        case .revoke: .http(200, "")
        }
    }
}
