// SPDX-License-Identifier: Apache-2.0
import NativeSystem
import TestSupport

/// A provider that gives a new refresh token each time and remembers which it has seen before.
final class RotatingScript: Sendable {
    private struct State {
        var next = 0
        var live: Set<String> = []
        var refreshes: [MonotonicInstant] = []
        var refused = 0
        var person = 0
    }

    let script: PayPalScript
    private let state: Locked<State>

    /// - Parameter bend: another reply for a refresh, before its token is looked at; nil for the rotating one's.
    init(_ bend: @escaping PayPalScript.Bend = { _, _, _ in nil }) throws {
        let state = Locked(State())
        self.state = state
        script = try PayPalScript { call, number, request in
            if let bent = bend(call, number, request) { return bent }
            switch call {
            case .exchange: return .http(200, RotatingScript.give(state))
            case .refresh: return RotatingScript.refresh(state, request)
            case .userinfo:
                let person = state.withLock { state in
                    state.person += 1
                    return state.person
                }
                return .http(200, PayPalScript.person(person))
            case .revoke: return nil
            }
        }
    }

    /// When refresh tokens were spent.
    var refreshes: [MonotonicInstant] { state.withLock { $0.refreshes } }
    /// How often one came that was spent before.
    var refused: Int { state.withLock { $0.refused } }

    private static func give(_ state: Locked<State>) -> String {
        state.withLock { state in
            state.next += 1
            state.live.insert("R23AA-canary-\(state.next).")
            return PayPalScript.tokens(state.next, refreshToken: "R23AA-canary-\(state.next).")
        }
    }

    private static func refresh(_ state: Locked<State>, _ request: ScriptedRequest) -> ScriptedReply {
        let isLive = state.withLock { state in
            guard let token = state.live.first(where: { request.body.contains($0) }) else {
                state.refused += 1
                return false
            }
            state.live.remove(token)
            state.refreshes.append(MonotonicInstant.now())
            return true
        }
        return isLive ? .http(200, give(state)) : .http(400, #"{"error":"invalid_grant"}"#)
    }
}
