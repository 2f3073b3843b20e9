// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeJSON

/// The vault's ring as an operator may see it: names and times, never a key.
package struct RingStatus: Sendable, Equatable {
    package struct Key: Sendable, Equatable {
        package var id: String
        /// RFC 3339, as the ring has it.
        package var createdAt: String
        /// Nil for the one that seals or signs.
        package var retiredAt: String?

        package init(id: String, createdAt: String, retiredAt: String?) {
            self.id = id
            self.createdAt = createdAt
            self.retiredAt = retiredAt
        }
    }
    /// Where it comes from: `file PATH`, `env NAME` or `command NAME`.
    package var source: String
    package var currentID: String
    package var keys: [Key]
    /// The key that signs checkpoints and receipts, and those that signed before.
    package var currentEvidenceID: String
    package var evidenceKeys: [Key]

    package init(
        source: String, currentID: String, keys: [Key], currentEvidenceID: String, evidenceKeys: [Key]
    ) {
        self.source = source
        self.currentID = currentID
        self.keys = keys
        self.currentEvidenceID = currentEvidenceID
        self.evidenceKeys = evidenceKeys
    }
}

/// A caller's key as `keys api list` tells it.
package struct ListedAPIKey: Sendable, Equatable {
    package enum State: String, Sendable { case active, expired, revoked }
    package enum Source: String, Sendable { case store, configuration }
    package var key: APIKey
    package var state: State
    package var source: Source

    package init(_ key: APIKey, at now: Instant, source: Source) {
        self.key = key
        self.source = source
        let isExpired = key.expiresAt.map { $0 <= now } ?? false
        state = key.revokedAt != nil ? .revoked : isExpired ? .expired : .active
    }
}

/// `keys status`, `keys api list` and `keys api revoke`.
package enum KeyListOutput {
    package static func ring(_ ring: RingStatus, json: Bool) -> CommandOutput {
        let (keys, evidence) = (oldestFirst(ring.keys), oldestFirst(ring.evidenceKeys))
        if json { return CommandOutput(text: jsonDocument(document(ring, keys, evidence))) }
        let rows =
            keys.map { row($0, ring.currentID, now: "seals and opens", later: "opens only") }
            + evidence.map { row($0, ring.currentEvidenceID, now: "signs evidence", later: "verifies evidence only") }
        return CommandOutput(text: "From \(Printable.text(ring.source)):\n" + TextTable.text(rows, indent: 2))
    }

    private static func oldestFirst(_ keys: [RingStatus.Key]) -> [RingStatus.Key] {
        keys.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }

    private static func row(_ key: RingStatus.Key, _ currentID: String, now: String, later: String) -> [String] {
        let state =
            key.id == currentID ? "current, \(now)" : key.retiredAt.map { "retired \($0), \(later)" } ?? later
        return [key.id, "made " + key.createdAt, state]
    }

    private static func document(
        _ ring: RingStatus, _ keys: [RingStatus.Key], _ evidence: [RingStatus.Key]
    ) -> JSONValue {
        var signing = JSONValue.object()
        signing.set("current", ring.currentEvidenceID)
        signing.set("items", items(evidence, current: ring.currentEvidenceID))
        var document = JSONValue.object()
        document.set("source", ring.source)
        document.set("current", ring.currentID)
        document.set("items", items(keys, current: ring.currentID))
        document.set("evidence", signing)
        return document
    }

    private static func items(_ keys: [RingStatus.Key], current: String) -> [JSONValue] {
        keys.map { key -> JSONValue in
            var item = JSONValue.object()
            item.set("id", key.id)
            item.set("current", key.id == current)
            item.set("created_at", key.createdAt)
            item.set("retired_at", key.retiredAt)
            return item
        }
    }

    /// In the order given.
    package static func apiKeys(_ keys: [ListedAPIKey], json: Bool) -> CommandOutput {
        if json { return CommandOutput(text: jsonDocument(["items": keys.map(document).json])) }
        if keys.isEmpty { return CommandOutput(text: "There is no key: make one with 'keys api create'.\n") }
        let rows = keys.map { listed -> [String] in
            [listed.key.name, listed.state.rawValue, scopes(of: listed.key).joined(separator: ","), life(of: listed)]
        }
        return CommandOutput(text: TextTable.text(rows))
    }

    private static func scopes(of key: APIKey) -> [String] {
        CallerScope.allCases.filter(key.scopes.contains).map(\.rawValue)
    }

    private static func life(of listed: ListedAPIKey) -> String {
        let key = listed.key
        if listed.source == .configuration { return "from auth.api_keys" }
        let end =
            key.revokedAt.map { "revoked \($0.text)" } ?? key.expiresAt.map { "until \($0.text)" }
            ?? "until it is revoked"
        return "made \(key.createdAt.text), \(end), last used \(key.lastUsedAt?.text ?? "never")"
    }

    private static func document(_ listed: ListedAPIKey) -> JSONValue {
        let isStored = listed.source == .store
        var json = JSONValue.object()
        json.set("name", listed.key.name)
        json.set("state", listed.state.rawValue)
        json.set("scopes", scopes(of: listed.key))
        json.set("source", listed.source.rawValue)
        json.set("created_at", isStored ? listed.key.createdAt.text : nil)
        json.set("expires_at", listed.key.expiresAt?.text)
        json.set("revoked_at", listed.key.revokedAt?.text)
        json.set("last_used_at", listed.key.lastUsedAt?.text)
        return json
    }

    package static func revoked(_ name: String, json: Bool) -> CommandOutput {
        if json { return CommandOutput(text: jsonDocument(["name": JSONValue(name), "state": "revoked"])) }
        return CommandOutput(
            text: "The key '\(Printable.text(name))' is revoked; a running 'serve' refuses it within 5 seconds.\n")
    }

    /// The key stands in the configuration, where no command ends it.
    /// - Parameters:
    ///   - place: file, line and key path.
    ///   - isOtherRevoked: the store had a key of that name, too, and it was revoked.
    package static func configured(_ name: String, at place: String, isOtherRevoked: Bool) -> CommandOutput {
        let other = isOtherRevoked ? "the store's key of that name is revoked, but " : ""
        return .failure(
            "\(other)'\(name)' stands in the configuration and still works: remove it there (\(place)), then send "
                + "'serve' SIGHUP", status: .partlyDone)
    }

    /// Nothing was to be done.
    package static func revokedBefore(_ name: String, at: Instant, json: Bool) -> CommandOutput {
        if json { return revoked(name, json: true) }
        return CommandOutput(text: "The key '\(Printable.text(name))' is revoked already, since \(at.text).\n")
    }

    package static func notThere(_ name: String) -> CommandOutput {
        .failure("the store has no key '\(name)'; 'keys api list' names those that it has", status: .partlyDone)
    }
}
