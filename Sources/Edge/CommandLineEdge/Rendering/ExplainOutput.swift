// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeJSON

/// `explain`: how a grant stands and why, in sentences.
package enum ExplainOutput {
    package static func account(_ account: GrantAccount, json: Bool) -> CommandOutput {
        let words = GrantWords(account: account)
        if json { return CommandOutput(text: jsonDocument(document(account, words))) }
        let record = account.record
        let reason = record.statusReason.map { " (\($0.rawValue))" } ?? ""
        var text = "\(record.id)  \(record.provider.words)  \(record.status.rawValue)\(reason)\n"
        text += section("What it is", words.what)
        text += section("What came last", words.last.map(\.says))
        text += section("What stands in its way", words.obstacles.map(\.says), none: "Nothing.")
        text += section("What comes next", words.next)
        text += section("What you can do", words.advice)
        let rows = words.timeline.map { [$0.at.text, $0.type, $0.says] }
        text += "\nTimeline\n" + TextTable.text(rows, indent: 2)
        return CommandOutput(text: text)
    }

    private static func section(_ title: String, _ sentences: [String], none: String? = nil) -> String {
        let sentences = sentences.isEmpty ? [none].compactMap(\.self) : sentences
        if sentences.isEmpty { return "" }
        return "\n\(title)\n" + sentences.map { "  \(Printable.text($0))\n" }.joined()
    }

    private static func document(_ account: GrantAccount, _ words: GrantWords) -> JSONValue {
        let record = account.record
        var document = JSONValue.object()
        document.set("id", record.id.description)
        document.set("provider", record.provider.name)
        document.set("environment", record.provider.environment)
        document.set("status", record.status.rawValue)
        document.set("status_reason", record.statusReason?.rawValue)
        document.set("generation", record.generation)
        document.set("issued_at", record.timing.issuedAt.text)
        document.set("access_token_expires_at", record.accessTokenExpiresAt?.text)
        let life = account.policy?.refreshTokenLife(record.timing)
        document.set("refresh_token_ends_at", life?.end.text)
        document.set("refresh_failures", record.refreshFailures)
        document.set("next_refresh_at", account.next?.at.text)
        document.set("next_refresh_reason", account.next?.reason.rawValue)
        document.set("what", words.what)
        document.set("last", words.last.first.map(item))
        document.set("obstacles", words.obstacles.map(item))
        document.set("next", words.next)
        document.set("advice", words.advice)
        document.set("timeline", words.timeline.map(item))
        return document
    }

    private static func item(_ told: GrantWords.Told) -> JSONValue {
        var item = JSONValue.object()
        item.set("at", told.at.text)
        item.set("type", told.type)
        item.set("blames", told.blames)
        item.set("says", told.says)
        return item
    }

    private static func item(_ obstacle: GrantWords.Obstacle) -> JSONValue {
        var item = JSONValue.object()
        item.set("kind", obstacle.kind)
        item.set("until", obstacle.until?.text)
        item.set("says", obstacle.says)
        return item
    }
}
