// SPDX-License-Identifier: Apache-2.0
internal import Consents

/// What one pass over all chains, in the order of their consents, finds for the checkpoints.
struct ChainPass {
    /// Consents by the period of their first event, and events by theirs.
    private(set) var written: [Int64: CheckpointFinding.Counts] = [:]
    private(set) var lastPeriod: Int64 = 0
    private var recounts: [(checkpoint: Checkpoint, tally: CheckpointTally)]

    /// - Parameter recounting: those whose roots are made again.
    init(recounting checkpoints: [Checkpoint], sha256: @escaping ([UInt8]) -> [UInt8]) {
        recounts = checkpoints.map { ($0, CheckpointTally(sha256: sha256)) }
    }

    mutating func follow(_ id: ConsentID, _ links: [ChainLink]) {
        if let first = links.first { written[first.period, default: .init(consents: 0, events: 0)].consents += 1 }
        // Of removed evidence the last of each period are left: each stands for those before it.
        let isRemoved = links.isRemovedEvidence
        var before: Int64 = 0
        for link in links {
            let count = isRemoved ? max(0, link.sequence - before) : 1
            written[link.period, default: .init(consents: 0, events: 0)].events += count
            before = link.sequence
            lastPeriod = max(lastPeriod, link.period)
        }
        for index in recounts.indices {
            let number = recounts[index].checkpoint.number
            guard let head = links.last(where: { $0.period < number }) else { continue }
            recounts[index].tally.add(ChainHead(id: id, count: head.sequence, mac: head.mac))
        }
    }

    /// Those whose root is another now.
    var differences: [CheckpointFinding] {
        var findings: [CheckpointFinding] = []
        for (checkpoint, tally) in recounts where tally.root != checkpoint.root {
            let finding = CheckpointFinding(number: checkpoint.number, fault: .rootDiffers)
            if !findings.contains(finding) { findings.append(finding) }
        }
        return findings
    }
}
