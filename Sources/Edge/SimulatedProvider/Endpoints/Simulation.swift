// SPDX-License-Identifier: Apache-2.0
package import NativeHTTPServer
import NativeJSON

/// What becomes of a request in the end.
package enum SimulatedOutcome: Sendable, Equatable {
    case answer(SimulatedAnswer, after: Duration)
    /// Bytes on the wire, after which the connection is over.
    case raw(RawAnswer, after: Duration)
}

/// The whole simulated provider without its socket: requests go in, outcomes come out.
///
/// Time comes in with each request, in milliseconds since 1970; randomness comes in through the initialiser.
package struct Simulation: Sendable {
    package let options: SimulatorOptions
    /// What discovery calls the provider: its own base URL.
    package var issuer = "http://127.0.0.1"
    var state: ProviderState
    var log: CallLog
    var faults = FaultSchedule()
    /// Those that ID tokens are signed with now.
    var keys: SigningKeys?
    /// What a fault does to the ID token of the call under way.
    var idTokenBend: IDTokenBend?
    /// How often a fault has struck the calls of one code, by grant and fault.
    private var strikes: BoundedTable<Int>

    package init(options: SimulatorOptions, random: any RandomNumberGenerator & Sendable) {
        self.options = options
        state = ProviderState(options: options, random: random)
        log = CallLog(options: options)
        keys = options.signingKeys
        strikes = BoundedTable(capacity: options.capacity)
        if let fault = options.fault { faults.add(fault, times: nil) }
    }

    /// What becomes of the request, and of the provider's memory with it.
    package mutating func outcome(of call: SimulatedCall, at now: Int64) -> SimulatedOutcome {
        let route = Route(call)
        log.record(call, at: route.endpoint)
        countArrival(route)
        let struck: StruckCall?
        do {
            struck = try self.fault(for: route, call)
        } catch {
            return .answer(dialect(of: route).answer(.requestInvalid(error.description)), after: .zero)
        }
        guard let struck else { return .answer(answer(route, call, refusal: nil, at: now), after: .zero) }
        let strike = FaultStrike(number: struck.fault.number, call: call, earlier: countStrike(struck))
        return outcome(of: call, route, under: struck.fault.row.effect(strike), at: now)
    }

    /// A fault and whose own it is; nil for one that is set for everybody.
    private struct StruckCall {
        let fault: Fault
        var grant: UInt64?
    }

    private mutating func countStrike(_ struck: StruckCall) -> Int {
        guard let grant = struck.grant else { return 0 }
        let key = "\(grant) \(struck.fault)"
        let earlier = strikes[key] ?? 0
        strikes.put(key, earlier + 1)
        return earlier
    }

    private mutating func outcome(
        of call: SimulatedCall, _ route: Route, under effect: FaultEffect, at now: Int64
    ) -> SimulatedOutcome {
        var refusal: Refusal?
        if case .refuse(let reason) = effect.end { refusal = reason }
        var regular = SimulatedAnswer.unavailable
        if effect.isProcessed || refusal != nil {
            state.isRotating = effect.isRotating
            idTokenBend = effect.idTokenBend
            // Without a new key the old one goes on: the call has its effect all the same.
            if let newKeys = effect.newKeys { try? keys?.rotate(keepsOld: newKeys == .besideOld) }
            regular = answer(route, call, refusal: refusal, at: now)
            idTokenBend = nil
            state.isRotating = false
        }
        switch effect.end {
        case .answer, .refuse: break
        case .bent(let bend): if (200...299).contains(regular.status) { bend(&regular) }
        case .instead(let answer): regular = answer
        case .complain(let status, let error, let description):
            regular = dialect(of: route).answer(status: status, error: error, description: description)
        case .raw(let raw): return .raw(raw(regular), after: effect.delay)
        }
        return .answer(regular, after: effect.delay)
    }

    private mutating func countArrival(_ route: Route) {
        guard case .token(_, let form) = route else { return }
        switch route.endpoint {
        case .exchange: if let code = form["code"] { log.codeArrived(code) }
        case .refresh: if let token = form["refresh_token"] { log.refreshTokenArrived(token) }
        default: break
        }
    }

    /// The fault that strikes this call: one that its code or token asks for, else one that is set for everybody.
    private mutating func fault(for route: Route, _ call: SimulatedCall) throws(FaultError) -> StruckCall? {
        guard let place = route.place else { return nil }
        var own: Fault?
        var grant: UInt64?
        switch route {
        case .token(_, let form) where route.endpoint == .exchange:
            if let code = form["code"] { own = try CodeText(code).fault }
        case .token(_, let form): grant = form["refresh_token"].flatMap { TokenText.grant(of: $0) }
        case .revoke(_, let form): grant = form["token"].flatMap { TokenText.grant(of: $0) }
        case .userinfo: grant = call.bearerToken.flatMap { TokenText.grant(of: $0) }
        default: break
        }
        if let grant { own = state.fault(of: grant) }
        if let own, own.places.contains(place) { return StruckCall(fault: own, grant: grant) }
        return faults.take(at: place).map { StruckCall(fault: $0) }
    }

    /// The provider's regular answer, or `refusal` from whoever is a client of it.
    private mutating func answer(
        _ route: Route, _ call: SimulatedCall, refusal: Refusal?, at now: Int64
    ) -> SimulatedAnswer {
        switch route {
        case .token(_, let form):
            return token(call, form, route, refusal: refusal, at: now)
        case .userinfo(_, let schema): return userinfo(call, schema, dialect(of: route), at: now)
        case .revoke(_, let form): return revoke(call, form, dialect(of: route))
        case .discovery: return discovery
        case .keys: return keySet
        case .authorize: return authorize(call, at: now)
        case .issueCode: return issueCode(call, at: now)
        case .log: return logAnswer(call)
        case .setFault: return setFault(call)
        case .listFaults: return faultsAnswer
        case .rotateKeys: return rotateKeys(call)
        case .none: return SimulatedAnswer(status: 404, json: ["error": "not_found"])
        case .wrongMethod: return SimulatedAnswer(status: 405, json: ["error": "method_not_allowed"])
        }
    }

    /// The words of the route's endpoint, with an identifier for the call where the provider gives one.
    mutating func dialect(of route: Route) -> Dialect {
        switch route {
        case .token(.paypal, _), .userinfo(.paypal, _), .revoke(.paypal, _):
            .paypal(correlation: correlation())
        default: .standard
        }
    }

    /// 13 hexadecimal digits, as PayPal writes its correlation identifiers.
    private mutating func correlation() -> String {
        let number = state.randomNumber() >> 12
        let text = String(number, radix: 16)
        return String(repeating: "0", count: 13 - text.count) + text
    }
}
