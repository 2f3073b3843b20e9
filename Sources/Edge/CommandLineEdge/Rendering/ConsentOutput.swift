// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import RecordRendering

/// `consents show`: one record, without attributes and tokens.
package enum ConsentOutput {
    package static func show(_ consent: OpenedConsent, json: Bool) -> CommandOutput {
        if json { return CommandOutput(text: jsonDocument(ConsentJSON.value(of: consent, includingProfile: false))) }
        let rows = identity(consent) + state(consent.record) + origin(consent.record)
        let width = rows.map(\.name.count).max() ?? 0
        let lines = rows.map { row in
            "  " + row.name + String(repeating: " ", count: width + 2 - row.name.count) + Printable.text(row.value)
                + "\n"
        }
        return CommandOutput(text: consent.record.id.description + "\n" + lines.joined())
    }

    private typealias Row = (name: String, value: String)

    private static func identity(_ consent: OpenedConsent) -> [Row] {
        let provider = consent.record.provider
        return [
            ("provider", provider.name + (provider.environment.map { " (\($0))" } ?? "")),
            ("subject", consent.subject.text),
            ("provider subject", consent.providerSubject?.reveal() ?? "not known yet"),
        ]
    }

    private static func state(_ record: ConsentRecord) -> [Row] {
        let fetched = record.profileFetchedAt.map { ", fetched \($0.text)" } ?? ""
        var rows: [Row] = [
            ("status", record.status.rawValue + (record.statusReason.map { " (\($0.rawValue))" } ?? "")),
            ("scopes granted", listed(record.granted)),
            ("scopes requested", listed(record.requested)),
            ("profile", record.profileStatus.rawValue + fetched),
            ("access token", record.accessTokenExpiresAt.map { "until " + $0.text } ?? "none: it was destroyed"),
            ("last refreshed", record.lastRefreshedAt?.text ?? "never"),
            ("next refresh", nextRefresh(record)),
        ]
        if record.refreshFailures > 0 { rows.append(("failures in a row", String(record.refreshFailures))) }
        if let newer = record.supersededBy { rows.append(("superseded by", newer.description)) }
        return rows
    }

    private static func origin(_ record: ConsentRecord) -> [Row] {
        var rows: [Row] = []
        if let client = record.client {
            let parts = [client.platform, client.productName, client.sdkVersion].compactMap(\.self)
            rows.append(("app", parts.joined(separator: ", ")))
        }
        if let notice = record.notice { rows.append(("notice", notice.text + (notice.isAssumed ? " (assumed)" : ""))) }
        return rows + [("created", record.createdAt.text), ("updated", record.updatedAt.text)]
    }

    private static func nextRefresh(_ record: ConsentRecord) -> String {
        if let due = record.timing.dueAt { return due.text }
        switch record.status {
        case .revoked, .superseded, .expired: return "never: the consent has ended"
        case .active, .failing, .reauthorizationRequired:
            return record.isRefreshable ? "on demand" : "never: there is no refresh token"
        }
    }

    private static func listed(_ scopes: ScopeSet) -> String {
        scopes.names.isEmpty ? "none" : scopes.blankSeparated
    }
}
