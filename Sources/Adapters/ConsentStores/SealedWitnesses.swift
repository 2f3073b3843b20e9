// SPDX-License-Identifier: Apache-2.0
package import Consents

/// A consent that tells which key ring a store was sealed with.
package struct SealedWitness: Sendable {
    package let id: ConsentID
    /// The consent's own key, under a key of the ring.
    package let key: SealedBytes
    package let subject: SealedBytes
    /// The digest of the subject under the ring's index key.
    package let subjectIndex: BlindIndex
    /// What the consent's first event was written as, and its mac under the ring's ledger key.
    package let firstEvent: [UInt8]
    package let firstMAC: [UInt8]
}

extension SQLStore {
    /// The oldest and the newest consent that still have their keys: none where nothing was sealed yet, one where both
    /// are the same. Makes and changes nothing; for a store with this program's schema. Blocks until done.
    /// - Throws: `damaged`, `retryLater`, `outOfReach`.
    package static func sealedWitnesses(in location: StoreLocation) throws(StoreFailure) -> [SealedWitness] {
        let clock = try bootClock()
        return try translated { () throws(SQLError) in
            let connection = try location.connectionForReading(clock)
            guard let oldest = try witness(WitnessQueries.oldest, in: connection) else { return [] }
            guard let newest = try witness(WitnessQueries.newest, in: connection), newest.id != oldest.id else {
                return [oldest]
            }
            return [oldest, newest]
        }
    }

    private static func witness(_ query: SQLQuery, in connection: borrowing SQLConnection) throws(SQLError)
        -> SealedWitness?
    {
        let row = try connection.prepare(query)
        guard try row.step() else { return nil }
        return SealedWitness(
            id: ConsentID(try row.identifier()), key: SealedBytes(row.blob()), subject: SealedBytes(row.blob()),
            subjectIndex: BlindIndex(row.blob()), firstEvent: Array(row.text().utf8), firstMAC: row.blob())
    }
}

private enum WitnessQueries {
    private static let sealed = """
        SELECT id, key_sealed, subject_sealed, subject_index, canonical, mac
        FROM consents JOIN events ON consent_id = id AND seq = 1
        WHERE key_sealed IS NOT NULL AND subject_sealed IS NOT NULL
        """
    static let oldest = SQLQuery("\(sealed) ORDER BY id LIMIT 1")
    static let newest = SQLQuery("\(sealed) ORDER BY id DESC LIMIT 1")
}
