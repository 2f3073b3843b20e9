// SPDX-License-Identifier: Apache-2.0
package import Consents

/// Reads the store's checkpoints in their order: are all there, does each name the one before, does each signature
/// hold. Those that hold tell what was written between them.
struct CheckpointBook {
    private let signer: any EvidenceSigner
    private let sha256: ([UInt8]) -> [UInt8]
    private let since: CheckpointName?
    private(set) var findings: [CheckpointFinding] = []
    /// How many are signed.
    private(set) var count = 0
    private(set) var newest: Int64 = 0
    /// The last whose signature holds, and the one that was asked for, where it is the one that was asked for.
    private(set) var last: NamedCheckpoint?
    private(set) var asked: NamedCheckpoint?
    /// Each number whose signature holds, with what it counts.
    private var told: [(number: Int64, counts: CheckpointFinding.Counts)] = [(0, .init(consents: 0, events: 0))]
    private var unsigned: [Int64] = []
    /// What the next one must name; nil where that cannot be known.
    private var previous: String? = ""
    /// What stands under the number that was asked for.
    private var found: (isThere: Bool, name: String?) = (false, nil)

    init(signer: any EvidenceSigner, sha256: @escaping ([UInt8]) -> [UInt8], since: CheckpointName?) {
        self.signer = signer
        self.sha256 = sha256
        self.since = since
    }

    mutating func read(_ stored: StoredCheckpoint) {
        if stored.number > newest + 1 {
            findings.append(.init(number: newest + 1, fault: .gone(through: stored.number - 1)))
            previous = nil
        }
        newest = stored.number
        if stored.number == since?.number { found.isThere = true }
        guard let signed = stored.signed else {
            unsigned.append(stored.number)
            previous = nil
            return
        }
        findings += unsigned.map { .init(number: $0, fault: .unsigned) }
        unsigned = []
        count += 1
        read(signed)
    }

    private mutating func read(_ signed: StoredCheckpoint.Signed) {
        let checkpoint = signed.checkpoint
        let name = checkpoint.name(sha256)
        if checkpoint.number == since?.number { found.name = name.description }
        switch signer.verdict(on: signed.signature, over: checkpoint.canonical, keyID: checkpoint.keyID) {
        case .holds:
            if let previous, checkpoint.previous != previous {
                findings.append(.init(number: checkpoint.number, fault: .orderBroken))
            }
            previous = name.description
            told.append((checkpoint.number, .init(consents: checkpoint.consents, events: checkpoint.events)))
            last = NamedCheckpoint(name: name, checkpoint: checkpoint)
            if name == since { asked = last }
        case .fails:
            findings.append(.init(number: checkpoint.number, fault: .altered))
            previous = nil
        case .keyUnknown:
            findings.append(.init(number: checkpoint.number, fault: .keyUnknown(checkpoint.keyID)))
            previous = nil
        }
    }

    /// After the last one: what became of the one that was asked for. One that lies in a gap has been told.
    mutating func close() {
        guard let since, found.name != since.description else { return }
        if found.isThere {
            findings.append(.init(number: since.number, fault: .replaced(by: found.name)))
        } else if since.number > newest {
            findings.append(.init(number: since.number, fault: .newerThanStore(newest: newest)))
        }
    }

    /// Where another count was written between two checkpoints than the later one tells.
    /// - Parameter written: by period.
    func differences(from written: [Int64: CheckpointFinding.Counts]) -> [CheckpointFinding] {
        zip(told, told.dropFirst()).compactMap { earlier, later in
            let difference = CheckpointFinding.Counts(
                consents: later.counts.consents &- earlier.counts.consents,
                events: later.counts.events &- earlier.counts.events)
            var found = CheckpointFinding.Counts(consents: 0, events: 0)
            for period in earlier.number..<later.number {
                found.consents += written[period]?.consents ?? 0
                found.events += written[period]?.events ?? 0
            }
            if found == difference { return nil }
            return CheckpointFinding(
                number: later.number,
                fault: .countsDiffer(since: earlier.number, told: difference, found: found))
        }
    }
}

/// A checkpoint whose signature holds.
package struct NamedCheckpoint: Sendable, Equatable {
    package let name: CheckpointName
    package let checkpoint: Checkpoint
}
