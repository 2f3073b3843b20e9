// SPDX-License-Identifier: Apache-2.0
package import Consents
package import Observability

/// Begins a checkpoint where the last is an hour old, and signs what was begun: over all chains as they stood then.
package struct MakeCheckpoint: Sendable {
    private let store: any CheckpointStore
    private let keys: any EvidenceKeys & EvidenceHash
    private let time: any Timekeeper
    private let log: Log

    package static let interval = Duration.seconds(3600)
    /// Heads read at a time; what one costs is hidden by the hashing.
    private static let pageSize = 500

    package init(store: any CheckpointStore, keys: any EvidenceKeys & EvidenceHash, time: any Timekeeper, log: Log) {
        self.store = store
        self.keys = keys
        self.time = time
        self.log = log
    }

    /// Why a checkpoint was not made; the next call goes on with it.
    package enum Failure: Error, Sendable, Equatable, CustomStringConvertible {
        case store(StoreFailure)
        case vault(VaultFailure)
        /// The task was cancelled.
        case interrupted

        package var description: String {
            switch self {
            case .store(let failure): "\(failure)"
            case .vault(let failure): "\(failure)"
            case .interrupted: "it was interrupted"
            }
        }
    }

    /// - Returns: the names of those that were signed now: one, none, or more where an ended process left one begun.
    /// - Throws: ``Failure``.
    @discardableResult
    package func callAsFunction() async throws(Failure) -> [CheckpointName] {
        do throws(StoreFailure) {
            _ = try await store.beginCheckpoint(every: Self.interval, at: time.now)
        } catch {
            throw .store(error)
        }
        var made: [CheckpointName] = []
        while let begun = try await next() {
            if let name = try await sign(begun) { made.append(name) }
        }
        return made
    }

    private func next() async throws(Failure) -> StoredCheckpoint? {
        do throws(StoreFailure) { return try await store.unsignedCheckpoint() } catch { throw .store(error) }
    }

    /// - Returns: nil where another process has signed it meanwhile.
    private func sign(_ begun: StoredCheckpoint) async throws(Failure) -> CheckpointName? {
        let tally = try await tally(at: begun.number)
        let signer = keys.evidenceSigner
        let checkpoint = Checkpoint(
            number: begun.number, at: begun.at, consents: tally.consents, events: tally.events, root: tally.root,
            previous: try await lastName()?.description ?? "", keyID: signer.keyID)
        let signature: [UInt8]
        do throws(VaultFailure) {
            signature = try signer.signature(over: checkpoint.canonical)
        } catch {
            throw .vault(error)
        }
        let signed = StoredCheckpoint.Signed(checkpoint: checkpoint, signature: signature)
        do throws(StoreFailure) { guard try await store.sign(signed) else { return nil } } catch {
            throw .store(error)
        }
        let name = checkpoint.name(keys.sha256)
        tell(signed, name)
        return name
    }

    private func lastName() async throws(Failure) -> CheckpointName? {
        do throws(StoreFailure) {
            return try await store.lastCheckpoint()?.checkpoint.name(keys.sha256)
        } catch {
            throw .store(error)
        }
    }

    private func tally(at number: Int64) async throws(Failure) -> CheckpointTally {
        var tally = CheckpointTally(sha256: keys.sha256)
        var after: ConsentID?
        while true {
            if Task.isCancelled { throw .interrupted }
            let heads: [ChainHead]
            do throws(StoreFailure) {
                heads = try await store.chainHeads(atCheckpoint: number, after: after, limit: Self.pageSize)
            } catch {
                throw .store(error)
            }
            guard let last = heads.last else { return tally }
            for head in heads { tally.add(head) }
            after = last.id
        }
    }

    /// All that the signature is over, so that a line that was kept elsewhere proves itself.
    private func tell(_ signed: StoredCheckpoint.Signed, _ name: CheckpointName) {
        let checkpoint = signed.checkpoint
        log.info(
            "a checkpoint was made",
            [
                Fact(.checkpoint, name.description), Fact(.atMilliseconds, checkpoint.at.milliseconds),
                Fact(.consents, checkpoint.consents), Fact(.events, checkpoint.events),
                Fact(.keyID, checkpoint.keyID), Fact(.previous, checkpoint.previous),
                Fact(.root, Hexadecimal.text(of: checkpoint.root)),
                Fact(.signature, Hexadecimal.text(of: signed.signature)),
            ])
    }
}
