// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeSystem

/// The codes whose grants this instance has in its journal and not yet in the store: as many as the journal holds.
final class JournaledCodes: Sendable {
    private let codes = Locked(Set<BlindIndex>())

    func contains(_ code: BlindIndex) -> Bool { codes.withLock { $0.contains(code) } }
    func insert(_ code: BlindIndex) { _ = codes.withLock { $0.insert(code) } }
    func remove(_ settled: [BlindIndex]) { codes.withLock { $0.subtract(settled) } }
}
