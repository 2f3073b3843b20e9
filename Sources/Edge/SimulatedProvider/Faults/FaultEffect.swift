// SPDX-License-Identifier: Apache-2.0
import NativeHTTPServer

/// One call that a fault strikes.
struct FaultStrike: Sendable {
    /// The fault's number, or its row's.
    let number: Double
    let call: SimulatedCall
    /// How often the fault has struck the same code's calls before; 0 for one that is set for everybody.
    let earlier: Int

    /// The number as a time: seconds, a day at most.
    var seconds: Duration { .milliseconds(Int64(min(number, 86_400) * 1000)) }
    /// The number as a size or a status.
    var count: Int { Int(number) }

    /// `http://HOST` as the client addresses this provider.
    var origin: String { "http://" + (call.field("host") ?? "127.0.0.1") }

    /// What the client sent that is nobody else's business: the code, the tokens, its credentials.
    var secrets: [String] {
        let basic = call.field("authorization").flatMap { field in
            ClientCredentials(basic: field, encoding: .rfc6749)?.secret
        }
        let form = call.form
        return [form["code"], form["refresh_token"], form["token"], form["client_secret"], basic, call.bearerToken]
            .compactMap(\.self)
    }
}

/// What a fault does to one call.
struct FaultEffect: Sendable {
    /// What the client gets in the end.
    enum End: Sendable {
        /// The answer that it would have got.
        case answer
        /// The same with something odd about it; an answer that refuses stays as it is.
        case bent(@Sendable (inout SimulatedAnswer) -> Void)
        case instead(SimulatedAnswer)
        /// The provider's refusal, in the words of the endpoint's dialect.
        case refuse(Refusal)
        /// An error of that name in the endpoint's dialect.
        case complain(status: Int, error: String, description: String?)
        /// The answer that it would have got, as bytes on the wire.
        case raw(@Sendable (SimulatedAnswer) -> RawAnswer)
    }

    enum NewKeys: Sendable {
        /// The old ones are gone from the key set.
        case alone
        case besideOld
    }

    /// Whether the call has its effect: the code is spent, the token rotated.
    var isProcessed = true
    /// Whether a refresh brings a new refresh token and ends the old one, whatever the provider's mode.
    var isRotating = false
    /// New keys for ID tokens before the call has its effect.
    var newKeys: NewKeys?
    /// What becomes of the ID token before it is signed.
    var idTokenBend: IDTokenBend?
    /// The time between the effect and the end.
    var delay = Duration.zero
    let end: End
}
