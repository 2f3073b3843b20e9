// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeJSON

/// `refresh --plan`: who would be refreshed when and why, and what an outage would cost.
package enum OutlookOutput {
    package static func plan(_ outlook: RefreshOutlook, json: Bool) -> CommandOutput {
        if json { return CommandOutput(text: jsonDocument(document(outlook))) }
        var text = "The plan at \(outlook.now.text). Nothing was sent.\n"
        for provider in outlook.providers { text += "\n" + section(provider, from: outlook.now) }
        text += endings(outlook.endingFirst)
        return CommandOutput(text: text)
    }

    private static func section(_ provider: RefreshOutlook.Provider, from now: Instant) -> String {
        guard let policy = provider.policy else {
            return "\(provider.key.words): not in the configuration; \(counted(provider.grants, "grant")), "
                + "never refreshed\n"
        }
        var text = "\(provider.key.words): \(words(of: policy)); \(counted(provider.grants, "grant"))\n"
        if provider.grants == 0 { return text }
        text += TextTable.text(rows(provider, from: now), indent: 2)
        let reasons = DueReason.allCases.compactMap { reason in
            provider.reasons[reason].map { "\(reason.rawValue) \($0)" }
        }
        text += "  why: \(reasons.joined(separator: ", "))\n"
        text += "  " + outages(provider) + "\n"
        if let warning = warning(provider) { text += "  warning: \(warning)\n" }
        return text
    }

    private static func words(of policy: RefreshPolicy) -> String {
        policy.kind == .keepAlive
            ? "\(policy.kind.rawValue), every \(DurationText.rough(policy.interval))" : policy.kind.rawValue
    }

    private static func rows(_ provider: RefreshOutlook.Provider, from now: Instant) -> [[String]] {
        var rows = [["due now", String(provider.dueNow)]]
        for (place, count) in provider.hours.enumerated() where count > 0 {
            rows.append(["in the hour of \(hour(place, from: now).text)", String(count)])
        }
        rows.append(["later", String(provider.later)])
        if provider.onDemand > 0 { rows.append(["only when somebody asks", String(provider.onDemand)]) }
        return rows
    }

    private static func outages(_ provider: RefreshOutlook.Provider) -> String {
        guard provider.withKnownEnd > 0 else { return "no end is known of their refresh tokens: an outage loses none" }
        let parts = zip(RefreshOutlook.outages, provider.endings).map { outage, count in
            "\(count) in \(DurationText.rough(outage))"
        }
        return "an outage from now on would lose: " + parts.joined(separator: ", ")
    }

    private static func warning(_ provider: RefreshOutlook.Provider) -> String? {
        guard let interval = provider.unsafeInterval, let life = provider.shortestLife else { return nil }
        return "its interval of \(DurationText.rough(interval)) is too long: a refresh token lives "
            + "\(DurationText.rough(life)), and is due at half of that; give at most \(DurationText.rough(life / 2))"
    }

    private static func endings(_ endings: [RefreshOutlook.Ending]) -> String {
        if endings.isEmpty { return "" }
        let rows = endings.map { ending in
            [
                ending.id.description, ending.provider.words, "due " + (ending.dueAt?.text ?? "when asked"),
                "ends \(ending.life.end.text)" + (ending.life.isTold ? "" : " if unused"),
            ]
        }
        return "\nAn outage until their refresh token's end loses these first:\n" + TextTable.text(rows, indent: 2)
    }

    private static func hour(_ place: Int, from now: Instant) -> Instant {
        let first = now.milliseconds - (now.milliseconds % 3_600_000 + 3_600_000) % 3_600_000
        return Instant(milliseconds: first + Int64(place) * 3_600_000)
    }

    private static func document(_ outlook: RefreshOutlook) -> JSONValue {
        var document = JSONValue.object()
        document.set("at", outlook.now.text)
        document.set("providers", outlook.providers.map { item($0, from: outlook.now) })
        document.set("ending_first", outlook.endingFirst.map(item))
        return document
    }

    private static func item(_ provider: RefreshOutlook.Provider, from now: Instant) -> JSONValue {
        var item = JSONValue.object(of: provider.key)
        item.set("policy", provider.policy?.kind.rawValue)
        item.set("grants", provider.grants)
        guard provider.policy != nil else { return item }
        item.set("due_now", provider.dueNow)
        var hours: [JSONValue] = []
        for (place, count) in provider.hours.enumerated() where count > 0 {
            hours.append(.object(("hour", JSONValue(hour(place, from: now).text)), ("due", JSONValue(Int64(count)))))
        }
        item.set("hours", hours)
        item.set("later", provider.later)
        item.set("on_demand", provider.onDemand)
        var reasons = JSONValue.object()
        for reason in DueReason.allCases { reasons.set(reason.rawValue, provider.reasons[reason] ?? 0) }
        item.set("reasons", reasons)
        let outages = zip(RefreshOutlook.outages, provider.endings).map { outage, count in
            JSONValue.object(
                ("seconds", JSONValue(outage.components.seconds)), ("would_lose", JSONValue(Int64(count))))
        }
        item.set("outages", outages)
        item.set("unsafe_interval", warning(provider))
        return item
    }

    private static func item(_ ending: RefreshOutlook.Ending) -> JSONValue {
        var item = JSONValue.object()
        item.set("id", ending.id.description)
        item.set("provider", ending.provider.name)
        item.set("environment", ending.provider.environment)
        item.set("next_refresh_at", ending.dueAt?.text)
        item.set("refresh_token_ends_at", ending.life.end.text)
        item.set("told", ending.life.isTold)
        return item
    }
}

extension JSONValue {
    static func object(_ members: (String, JSONValue)...) -> JSONValue {
        var object = JSONValue.object()
        for (name, value) in members { object.set(name, value) }
        return object
    }
}
