// SPDX-License-Identifier: Apache-2.0
import NativeJSON

/// What becomes of a request in the end.
package enum SimulatedOutcome: Sendable, Equatable {
    case answer(SimulatedAnswer, after: Duration)
    /// The connection closes without a byte.
    case hangUp(after: Duration)
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

    package init(options: SimulatorOptions, random: any RandomNumberGenerator & Sendable) {
        self.options = options
        state = ProviderState(options: options, random: random)
        log = CallLog(options: options)
        if let fault = options.fault { faults.add(fault, times: nil) }
    }

    /// What becomes of the request, and of the provider's memory with it.
    package mutating func outcome(of call: SimulatedCall, at now: Int64) -> SimulatedOutcome {
        let route = Route(call)
        log.record(call, at: route.endpoint)
        countArrival(route)
        let fault: Fault?
        do {
            fault = try self.fault(for: route, call)
        } catch {
            return .answer(dialect(of: route).answer(.requestInvalid(error.description)), after: .zero)
        }
        guard let fault else { return .answer(answer(route, call, refusal: nil, at: now), after: .zero) }
        return outcome(of: call, route, under: fault.row.effect(fault.number), at: now)
    }

    private mutating func outcome(
        of call: SimulatedCall, _ route: Route, under effect: FaultEffect, at now: Int64
    ) -> SimulatedOutcome {
        var refusal: Refusal?
        if case .refuse(let reason) = effect.end { refusal = reason }
        let regular = effect.isProcessed || refusal != nil ? answer(route, call, refusal: refusal, at: now) : nil
        switch effect.end {
        case .hangUp: return .hangUp(after: effect.delay)
        case .instead(let answer): return .answer(answer, after: effect.delay)
        case .answer, .refuse: return .answer(regular ?? .unavailable, after: effect.delay)
        }
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
    private mutating func fault(for route: Route, _ call: SimulatedCall) throws(FaultError) -> Fault? {
        guard let place = route.place else { return nil }
        var own: Fault?
        switch route {
        case .token(_, let form) where route.endpoint == .exchange:
            if let code = form["code"] { own = try CodeText(code).fault }
        case .token(_, let form): own = form["refresh_token"].flatMap { state.fault(ofToken: $0) }
        case .revoke(_, let form): own = form["token"].flatMap { state.fault(ofToken: $0) }
        case .userinfo: own = call.bearerToken.flatMap { state.fault(ofToken: $0) }
        default: break
        }
        if let own, own.places.contains(place) { return own }
        return faults.take(at: place)
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
        case .keys: return keys
        case .authorize: return authorize(call, at: now)
        case .issueCode: return issueCode(call, at: now)
        case .log: return logAnswer(call)
        case .setFault: return setFault(call)
        case .listFaults: return faultsAnswer
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
