// SPDX-License-Identifier: Apache-2.0
package import Consents

/// Follows every consent's chain of events and names what was altered, cut or removed.
package struct VerifyLedger: Sendable {
    private let store: any ConsentStore
    private let ledger: any Ledger

    package init(store: any ConsentStore, ledger: any Ledger) {
        self.store = store
        self.ledger = ledger
    }

    /// What is wrong with a chain.
    package enum Fault: String, Sendable, Equatable {
        /// An event's mac does not follow from the one before and its text.
        case altered
        /// Numbers are missing between two events.
        case gap
        /// The last events are gone: the record tells of more.
        case cut
        /// The record's own end of the chain is another than the last event's.
        case headDiffers = "head_differs"
    }

    /// One fault, and where.
    package struct Finding: Sendable, Equatable {
        package var consent: ConsentID
        /// The first event that does not hold.
        package var sequence: Int64
        package var fault: Fault
    }

    /// What a run found.
    package struct Report: Sendable, Equatable {
        package var consents = 0
        package var events = 0
        package var findings: [Finding] = []
    }

    /// - Throws: `StoreFailure` where the store cannot be read to its end.
    package func callAsFunction() async throws(StoreFailure) -> Report {
        var report = Report()
        var after: ConsentID?
        while true {
            let heads = try await store.chainHeads(after: after, limit: 200)
            guard let last = heads.last else { return report }
            for head in heads {
                let links = try await store.chain(of: head.id)
                report.consents += 1
                report.events += links.count
                if let finding = finding(head, links) { report.findings.append(finding) }
            }
            after = last.id
        }
    }

    private func finding(_ head: ChainHead, _ links: [ChainLink]) -> Finding? {
        var mac: [UInt8] = []
        // Events that came after the head was read are followed as well; the head must have stood among them.
        var isHeadMet = head.count == 0 && head.mac.isEmpty
        for (position, link) in links.enumerated() {
            guard link.sequence == Int64(position + 1) else {
                return Finding(consent: head.id, sequence: Int64(position + 1), fault: .gap)
            }
            mac = ledger.mac(previous: mac, event: link.canonical)
            guard mac == link.mac else { return Finding(consent: head.id, sequence: link.sequence, fault: .altered) }
            if link.sequence == head.count { isHeadMet = mac == head.mac }
        }
        if Int64(links.count) < head.count {
            return Finding(consent: head.id, sequence: Int64(links.count + 1), fault: .cut)
        }
        return isHeadMet ? nil : Finding(consent: head.id, sequence: head.count, fault: .headDiffers)
    }
}
