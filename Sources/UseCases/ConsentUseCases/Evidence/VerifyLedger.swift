// SPDX-License-Identifier: Apache-2.0
package import Consents

/// Follows every consent's chain of events and every checkpoint, and names what was altered, cut or removed, and each
/// column of a record that tells something else than its chain.
///
/// The chains prove what is there; the checkpoints, that nothing has gone that stood when they were made: how much was
/// written between two of them, and the root of the last one and of the one that is asked for. That the store itself is
/// an old copy only a checkpoint shows whose name was kept elsewhere.
///
/// Erasure takes the personal parts, which no mac is over. Of a chain whose time is over retention leaves where it ended
/// at each checkpoint, authenticated by a last event: otherwise the roots before could not be made again.
package struct VerifyLedger: Sendable {
    private let store: any ConsentStore & CheckpointStore
    private let check: RecordCheck
    private let keys: any EvidenceKeys & EvidenceHash

    package init(store: any ConsentStore & CheckpointStore, check: RecordCheck, keys: any EvidenceKeys & EvidenceHash) {
        self.store = store
        self.check = check
        self.keys = keys
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
        /// Events or an exchange tell of the consent, and it has no record.
        case missing
        /// The chain holds, and a column of the record tells something else.
        case recordDiffers = "record_differs"
    }

    /// One fault, and where.
    package struct Finding: Sendable, Equatable {
        package var consent: ConsentID
        /// The first event that does not hold, or the one that tells otherwise than the record.
        package var sequence: Int64
        package var fault: Fault
        /// Where the record differs.
        package var column: RecordColumn?

        package init(consent: ConsentID, sequence: Int64, fault: Fault, column: RecordColumn? = nil) {
            self.consent = consent
            self.sequence = sequence
            self.fault = fault
            self.column = column
        }
    }

    /// What a run found.
    package struct Report: Sendable, Equatable {
        package var consents = 0
        package var events = 0
        package var findings: [Finding] = []
        /// How many are signed.
        package var checkpoints = 0
        /// The last whose signature holds.
        package var last: NamedCheckpoint?
        /// The one that was asked for, where it stands in the store and its signature holds.
        package var since: NamedCheckpoint?
        package var checkpointFindings: [CheckpointFinding] = []
    }

    /// At most so many records that are missing are named.
    private static let mostMissing = 1000

    /// - Parameter since: a checkpoint that must be there, and all that stood when it was made.
    /// - Throws: `StoreFailure` where the store cannot be read to its end.
    package func callAsFunction(since: CheckpointName?) async throws(StoreFailure) -> Report {
        let book = try await readCheckpoints(since)
        let recounted = [book.last, book.asked].compactMap { $0?.checkpoint }
        var pass = ChainPass(recounting: recounted, sha256: keys.sha256)
        var report = try await followChains(&pass)
        report.findings += try await store.missingConsents(limit: Self.mostMissing).map {
            Finding(consent: $0, sequence: 1, fault: .missing)
        }
        report.checkpoints = book.count
        report.last = book.last
        report.since = book.asked
        report.checkpointFindings = book.findings + book.differences(from: pass.written) + pass.differences
        report.checkpointFindings += try await cutCheckpoints(behind: book.newest, pass.lastPeriod)
        return report
    }

    private func readCheckpoints(_ since: CheckpointName?) async throws(StoreFailure) -> CheckpointBook {
        var book = CheckpointBook(signer: keys.evidenceSigner, sha256: keys.sha256, since: since)
        while true {
            let page = try await store.checkpoints(after: book.newest, limit: 500)
            if page.isEmpty { break }
            for checkpoint in page { book.read(checkpoint) }
        }
        book.close()
        return book
    }

    private func followChains(_ pass: inout ChainPass) async throws(StoreFailure) -> Report {
        var report = Report()
        var after: ConsentID?
        while true {
            let records = try await store.ledgerRecords(after: after, limit: 200)
            guard let last = records.last else { return report }
            for record in records {
                let links = try await store.chain(of: record.head.id)
                report.consents += 1
                report.events += links.count
                report.findings += findings(record, links)
                pass.follow(record.head.id, links)
            }
            after = last.head.id
        }
    }

    /// Events tell of a checkpoint that was begun before them; where there is none of that number it was removed.
    private func cutCheckpoints(behind newest: Int64, _ lastPeriod: Int64) async throws(StoreFailure)
        -> [CheckpointFinding]
    {
        guard lastPeriod > newest else { return [] }
        // Others may have been begun since they were read.
        var present = newest
        while let next = try await store.checkpoints(after: present, limit: 500).last { present = next.number }
        return lastPeriod > present ? [.init(number: present + 1, fault: .gone(through: lastPeriod))] : []
    }

    /// What is wrong with one chain, or else with the record that stands on it.
    private func findings(_ record: LedgerRecord, _ links: [ChainLink]) -> [Finding] {
        let id = record.head.id
        if let broken = check.chainFault(record.head, links) {
            return [Finding(consent: id, sequence: broken.sequence, fault: broken.fault)]
        }
        return check.differences(record, links).map {
            Finding(consent: id, sequence: $0.sequence, fault: .recordDiffers, column: $0.column)
        }
    }
}
