// SPDX-License-Identifier: Apache-2.0
import Consents

/// The codes whose grants this instance has in its journal and not yet in the store: as many as the journal holds.
actor JournaledCodes {
    private var codes: Set<BlindIndex> = []

    func contains(_ code: BlindIndex) -> Bool { codes.contains(code) }
    func insert(_ code: BlindIndex) { codes.insert(code) }
    func remove(_ settled: [BlindIndex]) { codes.subtract(settled) }
}
