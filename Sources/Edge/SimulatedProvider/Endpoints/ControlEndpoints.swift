// SPDX-License-Identifier: Apache-2.0
import NativeJSON

/// `/simulator/…`: what no real provider has, for scripts and tests that play the person at the consent screen.
extension Simulation {
    /// `POST /simulator/codes {"person"?, "scopes"?: [TEXT], "client_id"?, "nonce"?, "code_challenge"?, "fault"?,
    /// "environment"?}`: a fresh code, bare and in the answer that PayPal's SDK gives an app. An empty body asks for the
    /// usual; the challenge is of the method S256.
    mutating func issueCode(_ call: SimulatedCall, at now: Int64) -> SimulatedAnswer {
        do throws(ControlError) {
            let body = try Self.object(in: call.body)
            var request = CodeRequest(person: try Self.text("person", in: body))
            if let person = request.person, person.isEmpty || person.contains(":") {
                throw ControlError("\"person\" is empty or has a colon in it")
            }
            request.scopes = body["scopes"]?.array?.compactMap(\.string)
            request.binding.clientID = try Self.text("client_id", in: body)
            request.binding.challenge = try Self.text("code_challenge", in: body).map { .s256($0) }
            request.nonce = try Self.text("nonce", in: body)
            request.fault = try Self.fault(in: body, asked: .byCode)
            let code = state.issueCode(request, at: now)
            let environment = try Self.text("environment", in: body) ?? options.environment
            return SimulatedAnswer(
                status: 201,
                json: ["code": JSONValue(code), "authorization": Self.authorization(code, environment)])
        } catch {
            return error.answer
        }
    }

    /// The authorization response of PayPal's SDK for iOS.
    static func authorization(_ code: String, _ environment: String) -> JSONValue {
        [
            "response_type": "authorization_code", "response": ["code": JSONValue(code)],
            "client": [
                "environment": JSONValue(environment), "paypal_sdk_version": "2.18.1", "platform": "iOS",
                "product_name": "PayPal iOS SDK",
            ],
        ]
    }

    /// `GET /simulator/log?limit=NUMBER`: what arrived here; see `CallLog.json(limit:)`. 10,000 entries where no limit
    /// is given.
    func logAnswer(_ call: SimulatedCall) -> SimulatedAnswer {
        let limit = call.query["limit"].flatMap { Int($0) } ?? 10_000
        return SimulatedAnswer(status: 200, json: log.json(limit: max(0, limit)))
    }

    /// `POST /simulator/faults {"fault": "NAME…" | null, "times"?: NUMBER}`: sets a fault for everybody besides those
    /// that are set; null takes them all back. Answers what is set now.
    mutating func setFault(_ call: SimulatedCall) -> SimulatedAnswer {
        do throws(ControlError) {
            let body = try Self.object(in: call.body)
            guard let member = body["fault"] else { throw ControlError("\"fault\" is missing") }
            let times = body["times"]
            if let times, times.integer.map({ $0 < 1 }) ?? true { throw ControlError("\"times\" is a number from 1") }
            if member.isNull {
                faults.clear()
            } else if let fault = try Self.fault(in: body, asked: .globally) {
                faults.add(fault, times: times?.integer.map { Int($0) })
            }
            return faultsAnswer
        } catch {
            return error.answer
        }
    }

    /// `GET /simulator/faults`: every fault there is, and those that are set.
    var faultsAnswer: SimulatedAnswer {
        let known = FaultTable.list.map { fault -> JSONValue in
            ["name": JSONValue(fault.name), "sentence": JSONValue(fault.sentence), "group": JSONValue(fault.group)]
        }
        let set = faults.list.map { fault, remaining -> JSONValue in
            ["fault": JSONValue(fault.description), "times": remaining.json]
        }
        return SimulatedAnswer(status: 200, json: ["set": .array(set), "known": .array(known)])
    }

    /// `POST /simulator/keys {"keep"?: BOOLEAN}`: a new key signs ID tokens from now on. The key set holds the old ones
    /// too, but for `"keep": false`. Answers the key set; 409 where no ID tokens are issued.
    mutating func rotateKeys(_ call: SimulatedCall) -> SimulatedAnswer {
        guard keys != nil else { return SimulatedAnswer(status: 409, json: ["error": "no_id_tokens"]) }
        do throws(ControlError) {
            let keep = try Self.object(in: call.body)["keep"]
            if let keep, keep.boolean == nil { throw ControlError("\"keep\" is neither true nor false") }
            do { try keys?.rotate(keepsOld: keep?.boolean ?? true) } catch { return .unavailable }
            return keySet
        } catch {
            return error.answer
        }
    }

    private static func object(in body: [UInt8]) throws(ControlError) -> JSONValue {
        guard !body.isEmpty else { return [:] }
        do {
            let value = try JSONValue.parse(body, as: .callers)
            guard value.kind == .object else { throw ControlError("the body is no JSON object") }
            return value
        } catch let error as JSONError {
            throw ControlError("the body is no JSON: \(error)")
        } catch {
            throw ControlError("the body is no JSON object")
        }
    }

    private static func text(_ name: String, in body: JSONValue) throws(ControlError) -> String? {
        guard let member = body[name], !member.isNull else { return nil }
        guard let text = member.string else { throw ControlError("\"\(name)\" is no text") }
        return text
    }

    private static func fault(in body: JSONValue, asked: Fault.Asked) throws(ControlError) -> Fault? {
        guard let text = try text("fault", in: body) else { return nil }
        do { return try Fault(text, asked: asked) } catch { throw ControlError(error.description) }
    }
}

/// Why a request to `/simulator/…` was not understood.
struct ControlError: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }

    var answer: SimulatedAnswer {
        SimulatedAnswer(status: 400, json: ["error": "invalid_request", "error_description": JSONValue(reason)])
    }
}
