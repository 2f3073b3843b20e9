// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeJSON

/// `incidents`: what keeps calls from providers.
package enum IncidentsOutput {
    /// One line of it.
    private struct Incident {
        var provider: ProviderKey
        var kind: String
        var since: Instant?
        var why: String
        var clears: String
    }

    package static func list(_ states: [ProviderState], at now: Instant, json: Bool) -> CommandOutput {
        let incidents = states.flatMap { found(in: $0, at: now) }
        if json { return CommandOutput(text: jsonDocument(["items": JSONValue.array(incidents.map { document($0) })])) }
        if incidents.isEmpty { return CommandOutput(text: "Nothing keeps calls from any provider.\n") }
        var rows = [["PROVIDER", "WHAT", "SINCE", "WHY", "CLEARED BY"]]
        for incident in incidents {
            let since = incident.since?.text ?? "-"
            rows.append([incident.provider.name, incident.kind, since, incident.why, incident.clears])
        }
        return CommandOutput(text: TextTable.text(rows))
    }

    /// - Parameter count: how many held verdicts were decided.
    package static func decided(_ decision: VerdictDecision, of provider: String, count: Int, json: Bool)
        -> CommandOutput
    {
        if json {
            return CommandOutput(
                text: jsonDocument([
                    "provider": JSONValue(provider), "decision": JSONValue(decision.rawValue),
                    "verdicts": JSONValue(Int64(count)),
                ]))
        }
        let word = decision == .confirm ? "confirmed" : "dismissed"
        let verdicts = count == 1 ? "verdict" : "verdicts"
        return CommandOutput(text: "\(Printable.text(provider)): \(count) held \(verdicts) \(word).\n")
    }

    private static func found(in state: ProviderState, at now: Instant) -> [Incident] {
        let (health, provider) = (state.health, state.provider)
        var found: [Incident] = []
        if let gate = health.gate, case .blocked(let until, .gate) = health.permit(.refresh, at: now) {
            found.append(
                Incident(
                    provider: provider, kind: "gate", since: gate.since, why: "it takes no calls",
                    clears: "its time, \(until.text)"))
        }
        if let breaker = health.breaker {
            let why = breaker.reason == .unknown ? "an outcome that nobody knows" : "it cannot be reached"
            found.append(
                Incident(
                    provider: provider, kind: "breaker", since: breaker.since, why: why,
                    clears: "a trial that succeeds, the next \(next(health))"))
        }
        if let pause = health.pause {
            let why = pause.isByName ? "it refuses our credentials by name" : "a bare 401 or 403"
            found.append(
                Incident(
                    provider: provider, kind: "pause", since: pause.since, why: why,
                    clears: "a trial that succeeds, the next \(next(health)); 'refresh ID' is one at once"))
        }
        if health.brakeSince != nil || state.heldVerdicts > 0 {
            found.append(
                Incident(
                    provider: provider, kind: "held verdicts", since: health.brakeSince ?? state.heldSince,
                    why: "it declared most grants dead; \(state.heldVerdicts) held",
                    clears: "a trial of one that succeeds, the next \(next(health)); 'incidents confirm "
                        + "\(provider.name)' or 'dismiss' at once"))
        }
        return found
    }

    private static func next(_ health: ProviderHealth) -> String {
        if health.trial != nil { return "under way" }
        return health.nextTrialAt.map { "at \($0.text)" } ?? "with the next call"
    }

    private static func document(_ incident: Incident) -> JSONValue {
        var document = JSONValue.object()
        document.set("provider", incident.provider.name)
        document.set("environment", orNull: incident.provider.environment)
        document.set("kind", incident.kind.split(separator: " ").joined(separator: "_"))
        document.set("since", orNull: incident.since?.text)
        document.set("why", incident.why)
        document.set("cleared_by", incident.clears)
        return document
    }
}
