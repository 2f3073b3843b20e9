// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeJSON

/// An event with its place in the chain, not yet written.
struct EventLink {
    var draft: EventDraft
    var sequence: Int64
    /// What the mac was made over.
    var canonical: [UInt8]
    var mac: [UInt8]

    func write(of id: ConsentID, in connection: borrowing SQLConnection) throws(SQLError) {
        try connection.run(
            EventQueries.insert, id, sequence, draft.type.rawValue, draft.at,
            String(decoding: canonical, as: UTF8.self), mac, draft.personal)
    }
}

/// Where one consent's chain ends: how many events there are, and the mac of the last.
struct EventChain {
    private(set) var count: Int64
    /// Empty before the first event.
    private(set) var head: [UInt8]

    static let empty = EventChain(count: 0, head: [])

    /// Gives the events their places behind the others. Links and new end are the caller's to store, together.
    mutating func extend(by drafts: [EventDraft], of id: ConsentID, _ ledger: any Ledger) -> [EventLink] {
        var links: [EventLink] = []
        for draft in drafts {
            count += 1
            let canonical = EventText.canonical(draft, of: id, sequence: count)
            head = ledger.mac(previous: head, event: canonical)
            links.append(EventLink(draft: draft, sequence: count, canonical: canonical, mac: head))
        }
        return links
    }
}

/// The canonical form of an event: UTF-8, sorted keys, no blanks, strings and integers only (contract, section 6).
enum EventText {
    /// Members `at` (milliseconds), `caller`, `consent`, `data`, `request_id` (where there is one), `seq`, `type`.
    static func canonical(_ draft: EventDraft, of id: ConsentID, sequence: Int64) -> [UInt8] {
        let text = CanonicalText(draft, of: id, sequence: sequence)
        return text.isPlain ? text.bytes : escaped(draft, of: id, sequence: sequence)
    }

    /// The same of any texts. Members are set in the order of their names, as the event's data have theirs: nothing is
    /// left to sort.
    static func escaped(_ draft: EventDraft, of id: ConsentID, sequence: Int64) -> [UInt8] {
        var data = JSONValue.object()
        for (name, value) in draft.data.members {
            switch value {
            case .text(let text): data.set(name, text)
            case .integer(let number): data.set(name, number)
            }
        }
        var event = JSONValue.object()
        event.set("at", draft.at.milliseconds)
        event.set("caller", draft.caller)
        event.set("consent", id.description)
        event.set("data", data)
        if let requestID = draft.requestID { event.set("request_id", requestID) }
        event.set("seq", sequence)
        event.set("type", draft.type.rawValue)
        return event.serialized(.compact)
    }

    /// The event that a canonical text tells of.
    /// - Throws: `SQLError.corrupt` where it is none.
    static func draft(_ canonical: [UInt8], personal: SealedBytes?) throws(SQLError) -> EventDraft {
        // `providers`: a text value may hold U+0000, which callers' bodies may not.
        guard let event = try? JSONValue.parse(canonical, as: .providers),
            let draft = draft(event, personal: personal)
        else { throw .corrupt }
        return draft
    }

    /// The event with the place that it tells; nil where the text is none.
    static func told(_ canonical: [UInt8], personal: SealedBytes?) -> ChainLink.Told? {
        guard let event = try? JSONValue.parse(canonical, as: .providers), let consent = event["consent"]?.string,
            let sequence = event["seq"]?.integer, let draft = draft(event, personal: personal)
        else { return nil }
        return ChainLink.Told(consent: consent, sequence: sequence, draft: draft)
    }

    private static func draft(_ event: JSONValue, personal: SealedBytes?) -> EventDraft? {
        guard let at = event["at"]?.integer, let caller = event["caller"]?.string, let word = event["type"]?.string,
            let type = EventType(rawValue: word)
        else { return nil }
        var data: EventData = [:]
        for (name, value) in event["data"]?.members ?? JSONValue.null.members {
            if let text = value.string { data[name] = .text(text) }
            if let number = value.integer { data[name] = .integer(number) }
        }
        return EventDraft(
            type: type, at: Instant(milliseconds: at), caller: caller, requestID: event["request_id"]?.string,
            data: data, personal: personal)
    }
}

extension WritingRules {
    /// Adds events to the chain of a consent that is there.
    /// - Returns: false where it is not.
    @discardableResult
    func append(_ events: [EventDraft], to id: ConsentID, in connection: borrowing SQLConnection)
        throws(SQLError) -> Bool
    {
        guard var chain = try chain(of: id, in: connection) else { return false }
        if events.isEmpty { return true }
        for link in chain.extend(by: events, of: id, ledger) { try link.write(of: id, in: connection) }
        try connection.run(EventQueries.saveHead, chain.count, chain.head, id)
        return true
    }

    private func chain(of id: ConsentID, in connection: borrowing SQLConnection) throws(SQLError)
        -> EventChain?
    {
        let row = try connection.prepare(EventQueries.head)
        try row.bind(id)
        return try row.step() ? EventChain(count: row.integer(), head: row.blob()) : nil
    }
}

extension SQLStore {
    package func append(_ event: EventDraft, to id: ConsentID) async throws(StoreFailure) {
        try await writer.write(.finishes) { [rules] connection throws(SQLError) in
            _ = try rules.append([event], to: id, in: connection)
        }
    }

    package func events(of id: ConsentID) async throws(StoreFailure) -> [StoredEvent] {
        try await readers.read { connection throws(SQLError) in
            let rows = try connection.prepare(EventQueries.select)
            try rows.bind(id)
            var events: [StoredEvent] = []
            while try rows.step() {
                let sequence = rows.integer()
                let canonical = Array(rows.text().utf8)
                let mac = rows.blob()
                let draft = try EventText.draft(canonical, personal: rows.optionalSealed())
                events.append(StoredEvent(sequence: sequence, draft: draft, mac: mac))
            }
            return events
        }
    }
}

/// The period that a transaction writes in.
let period = "(SELECT coalesce(max(number), 0) FROM checkpoints)"

private enum EventQueries {
    static let insert = SQLQuery(
        """
        INSERT INTO events (consent_id, seq, type, at, canonical, mac, personal_sealed, period)
        VALUES (?, ?, ?, ?, ?, ?, ?, \(period))
        """)
    /// Behind the event that tells of the removal of the others comes none.
    static let head = SQLQuery(
        locking: "SELECT event_count, chain_head FROM consents WHERE id = ? AND evidence_removed_at IS NULL")
    static let saveHead = SQLQuery(
        "UPDATE consents SET event_count = ?, chain_head = ?, head_period = \(period) WHERE id = ?")
    /// Of removed evidence the last event alone.
    static let select = SQLQuery(
        """
        SELECT seq, canonical, mac, personal_sealed FROM events WHERE consent_id = ? AND canonical <> '' ORDER BY seq
        """)
}
