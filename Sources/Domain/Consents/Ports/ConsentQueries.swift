// SPDX-License-Identifier: Apache-2.0
/// Which records a list shows, newest first.
package struct ConsentQuery: Sendable {
    package var subject: BlindIndex?
    /// The configured name.
    package var provider: String?
    package var status: ConsentStatus?
    /// Only records older than this one: where the page before ended.
    package var before: ConsentID?
    /// 1 to 200.
    package var limit: Int

    package init(subject: BlindIndex?, provider: String?, status: ConsentStatus?, before: ConsentID?, limit: Int) {
        self.subject = subject
        self.provider = provider
        self.status = status
        self.before = before
        self.limit = limit
    }
}

/// One page of a list.
package struct ConsentPage: Sendable {
    package var items: [StoredConsent]
    /// Where the next page begins; nil where this is the last.
    package var next: ConsentID?

    package init(items: [StoredConsent], next: ConsentID?) {
        self.items = items
        self.next = next
    }
}

/// A consent's chain as the record tells it, for the verification of what the events tell.
package struct ChainHead: Sendable, Equatable {
    package var id: ConsentID
    package var count: Int64
    package var mac: [UInt8]

    package init(id: ConsentID, count: Int64, mac: [UInt8]) {
        self.id = id
        self.count = count
        self.mac = mac
    }
}

/// An event as its mac was made over it, byte for byte.
package struct ChainLink: Sendable {
    package var sequence: Int64
    package var canonical: [UInt8]
    package var mac: [UInt8]
    /// The number of the last checkpoint that was begun before it; 0 before the first.
    package var period: Int64
    /// What the bytes tell, with the personal part that lies beside them; nil where this program cannot read them.
    package var told: Told?

    /// An event, and the place in a chain that it says it has.
    package struct Told: Sendable {
        package var consent: String
        package var sequence: Int64
        package var draft: EventDraft

        package init(consent: String, sequence: Int64, draft: EventDraft) {
            self.consent = consent
            self.sequence = sequence
            self.draft = draft
        }
    }
    package var draft: EventDraft? { told?.draft }

    /// Whether it was written where it lies, as far as its bytes can be read.
    package func tellsItsPlace(in id: ConsentID) -> Bool {
        guard let told else { return true }
        return told.consent == id.description && told.sequence == sequence
    }

    package init(sequence: Int64, canonical: [UInt8], mac: [UInt8], period: Int64, told: Told?) {
        self.sequence = sequence
        self.canonical = canonical
        self.mac = mac
        self.period = period
        self.told = told
    }
}
