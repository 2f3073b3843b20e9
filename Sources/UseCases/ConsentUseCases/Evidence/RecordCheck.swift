// SPDX-License-Identifier: Apache-2.0
package import Consents

/// Holds a consent's chain against itself, and its record against the chain.
package struct RecordCheck: Sendable {
    private let ledger: any Ledger
    private let vault: any TokenVault

    /// - Parameters:
    ///   - ledger: what the chains were made with; the vault itself, outside of tests.
    package init(ledger: any Ledger, vault: any TokenVault) {
        self.ledger = ledger
        self.vault = vault
    }

    /// The first fault of the chain, if there is one.
    func chainFault(_ head: ChainHead, _ links: [ChainLink]) -> (sequence: Int64, fault: VerifyLedger.Fault)? {
        if links.isRemovedEvidence { return removedFault(head, links) }
        var mac: [UInt8] = []
        // Events that came after the head was read are followed as well; the head must have stood among them.
        var isHeadMet = head.count == 0 && head.mac.isEmpty
        for (position, link) in links.enumerated() {
            guard link.sequence == Int64(position + 1) else { return (Int64(position + 1), .gap) }
            mac = ledger.mac(previous: mac, event: link.canonical)
            // One that tells of another consent or number was written there, and copied to here.
            guard mac == link.mac, link.tellsItsPlace(in: head.id) else { return (link.sequence, .altered) }
            if link.sequence == head.count { isHeadMet = mac == head.mac }
        }
        if Int64(links.count) < head.count { return (Int64(links.count + 1), .cut) }
        return isHeadMet ? nil : (head.count, .headDiffers)
    }

    /// The same for a chain of which retention has left where it ended at each checkpoint: its last event is whole.
    private func removedFault(_ head: ChainHead, _ links: [ChainLink])
        -> (sequence: Int64, fault: VerifyLedger.Fault)?
    {
        guard let last = links.last, let before = links.dropLast().last else { return (1, .gap) }
        for (one, next) in zip(links, links.dropFirst()) where one.sequence >= next.sequence {
            return (next.sequence, .gap)
        }
        guard before.sequence == last.sequence - 1 else { return (last.sequence, .gap) }
        guard ledger.mac(previous: before.mac, event: last.canonical) == last.mac, last.tellsItsPlace(in: head.id)
        else {
            return (last.sequence, .altered)
        }
        if last.sequence < head.count { return (last.sequence + 1, .cut) }
        return head.count == last.sequence && head.mac == last.mac ? nil : (head.count, .headDiffers)
    }

    /// Where the record tells something else than the chain as it stood with it, each column once. For a chain without
    /// a fault.
    func differences(_ record: LedgerRecord, _ links: [ChainLink]) -> [RecordDifference] {
        var state = ChainState()
        let links = links.prefix { $0.sequence <= record.head.count }
        for link in links {
            // An event that this program has no word for is a newer one's; so is what it may change.
            guard let draft = link.draft else { return [] }
            state.follow(draft, sequence: link.sequence)
        }
        let differences = state.differences(from: record.facts)
        // What is erased cannot be opened; that the chain knows of no erasure has been told.
        if record.facts.values[.erasedAt] != nil { return differences }
        return differences + sealedDifferences(record, links)
    }

    private func sealedDifferences(_ record: LedgerRecord, _ links: ArraySlice<ChainLink>) -> [RecordDifference] {
        guard let key = record.key.flatMap({ try? vault.openConsentKey($0, for: record.head.id) }) else {
            return [RecordDifference(column: .key, sequence: 1)]
        }
        let people = OpenedPeople(record, key, vault)
        var differences = people.faults.map { RecordDifference(column: $0, sequence: 1) }
        var isPersonTold = false
        for link in links {
            guard let draft = link.draft else { continue }
            let digests = draft.data.filter { $0.key.hasSuffix("_sha256") }
            if digests.isEmpty { continue }
            isPersonTold = isPersonTold || digests["provider_subject_sha256"] != nil
            let column = people.difference(from: digests, draft.personal, key, vault)
            if let column, !differences.contains(where: { $0.column == column }) {
                differences.append(RecordDifference(column: column, sequence: link.sequence))
            }
        }
        if !isPersonTold, record.providerSubject != nil || record.providerSubjectIndex != nil {
            differences.append(RecordDifference(column: .providerSubject, sequence: record.head.count))
        }
        return differences
    }
}

/// Who the record says the person is: opened, with what could not be.
private struct OpenedPeople {
    private var subject: SecretText?
    private var providerSubject: SecretText?
    private(set) var faults: [RecordColumn] = []

    init(_ record: LedgerRecord, _ key: ConsentKey, _ vault: any TokenVault) {
        subject = record.subject.flatMap { try? vault.openText($0, as: .subject, under: key) }
        if let found = subject.flatMap({ Subject($0.reveal()) }) {
            if vault.index(of: found) != record.subjectIndex { faults.append(.subjectIndex) }
        } else {
            faults.append(.subject)
        }
        if let sealed = record.providerSubject {
            providerSubject = try? vault.openText(sealed, as: .providerSubject, under: key)
            if providerSubject == nil { faults.append(.providerSubject) }
        }
        guard let providerSubject else { return }
        let index = vault.index(ofProviderSubject: providerSubject, at: record.facts.provider)
        if index != record.providerSubjectIndex { faults.append(.providerSubjectIndex) }
    }

    /// Where an event's digests and the personal part behind them do not fit one another, or name another person.
    func difference(
        from digests: EventData, _ sealed: SealedBytes?, _ key: ConsentKey, _ vault: any TokenVault
    ) -> RecordColumn? {
        guard let part = sealed.flatMap({ try? vault.openPersonalPart($0, under: key) }), part.digests == digests else {
            return .personal
        }
        if let told = part.values["subject"], told != subject { return .subject }
        if let told = part.values["provider_subject"], told != providerSubject { return .providerSubject }
        return nil
    }
}

extension RecordFacts {
    fileprivate var provider: ProviderKey {
        func text(_ column: RecordColumn) -> String { if case .text(let text) = values[column] { text } else { "" } }
        let environment = text(.environment)
        return ProviderKey(name: text(.provider), environment: environment.isEmpty ? nil : environment)
    }
}

extension [ChainLink] {
    /// Whether its last event tells that the program took away what the others told.
    var isRemovedEvidence: Bool { last?.draft?.type == .evidenceRemoved }
}
