// SPDX-License-Identifier: Apache-2.0
import NativeCrypto
import NativeJSON
import SimulatedProvider
import TestSupport

/// A simulation on the bench: a client that asks it, and a clock that only the test moves.
final class Bench {
    var simulation: Simulation
    /// Milliseconds since 1970.
    var now: Int64 = 1_767_225_600_000

    init(_ change: (inout SimulatorOptions) -> Void = { _ in }) {
        var options = SimulatorOptions()
        change(&options)
        simulation = Simulation(options: options, random: CountingGenerator())
    }

    struct Reply {
        let status: Int
        let fields: [SimulatedCall.Field]
        let body: [UInt8]

        func text(_ name: String) -> String? { json?[name]?.string }
        var json: JSONValue? { try? JSONValue.parse(body, as: .callers) }
        func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }
    }

    /// The outcome of a request, for an answer that comes at once; nil for any other outcome.
    func send(_ call: SimulatedCall) -> Reply? {
        Canary.passed(call.body, in: #fileID)
        guard case .answer(let answer, .zero) = simulation.outcome(of: call, at: now) else { return nil }
        Canary.passed(answer.body, in: #fileID)
        return Reply(status: answer.status, fields: answer.fields, body: answer.body)
    }

    func get(_ target: String, bearer: String? = nil) -> Reply? {
        let fields = bearer.map { [SimulatedCall.Field("authorization", "Bearer " + $0)] } ?? []
        return send(SimulatedCall(method: "GET", target: target, fields: fields, body: []))
    }

    func post(_ path: String, _ form: KeyValuePairs<String, String>, basic: String? = Bench.basic) -> Reply? {
        let fields = basic.map { [SimulatedCall.Field("Authorization", $0)] } ?? []
        return send(SimulatedCall(method: "POST", target: path, fields: fields, body: Array(formText(form).utf8)))
    }

    func control(_ path: String, _ json: String) -> Reply? {
        send(SimulatedCall(method: "POST", target: path, fields: [], body: Array(json.utf8)))
    }

    /// A fresh code for a person.
    func code(for person: String = "alice", fault: String? = nil) -> String {
        let member = fault.map { ",\"fault\":\"\($0)\"" } ?? ""
        return control("/simulator/codes", "{\"person\":\"\(person)\"\(member)}")?.text("code") ?? ""
    }

    func redeem(_ code: String) -> Reply? {
        post(
            "/v1/oauth2/token",
            [
                "grant_type": "authorization_code", "response_type": "token",
                "redirect_uri": "urn:ietf:wg:oauth:2.0:oob", "code": code,
            ])
    }

    func refresh(_ token: String?) -> Reply? {
        post("/v1/oauth2/token", ["grant_type": "refresh_token", "refresh_token": token ?? ""])
    }

    func userinfo(_ token: String?) -> Reply? {
        get("/v1/identity/openidconnect/userinfo/?schema=openid", bearer: token ?? "")
    }

    static let basic = basic(SimulatorOptions.defaultClientID, SimulatorOptions.defaultClientSecret)

    static func basic(_ identifier: String, _ secret: String) -> String {
        "Basic " + Base64.standard.text(of: Array("\(identifier):\(secret)".utf8))
    }
}

/// The pairs as a form body.
func formText(_ form: KeyValuePairs<String, String>) -> String {
    form.map { FormPairs.encode($0.key) + "=" + FormPairs.encode($0.value) }.joined(separator: "&")
}

/// Numbers that a test can know: 1, 2, 3 … each spread over all bits.
struct CountingGenerator: RandomNumberGenerator, Sendable {
    private var count: UInt64 = 0

    mutating func next() -> UInt64 {
        count += 1
        return count &* 0x9E37_79B9_7F4A_7C15
    }
}
