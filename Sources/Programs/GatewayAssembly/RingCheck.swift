// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import ConsentStores
import Consents
import TokenVaults

/// Holds a key ring against a store: another store's ring, or one that lacks a key, would open nothing, find no code
/// and no live consent again, and break every chain of events.
enum RingCheck {
    /// - Throws: `StartFailure` with status 4: the ring is not the one that the store's consents were sealed with.
    static func hold(_ vault: RingVault, against location: StoreLocation) throws(StartFailure) {
        let witnesses: [SealedWitness]
        do throws(StoreFailure) {
            witnesses = try SQLStore.sealedWitnesses(in: location)
        } catch {
            throw StartFailure(error, at: location)
        }
        let doubts = witnesses.compactMap { doubt($0, vault) }
        // A missing key is one too many; anything else may be one damaged row, which must not stop all the others.
        let missing = doubts.first { if case .keyMissing = $0 { true } else { false } }
        if let told = missing ?? (doubts.count == witnesses.count ? doubts.first : nil) {
            throw StartFailure("vault.keys: \(sentence(of: told)) (the store is \(location.shown))", .storeOrKeys)
        }
    }

    private enum Doubt {
        case keyMissing(String)
        case otherSealingKey(ConsentID)
        case otherIndexKey
        case otherLedgerKey
    }

    private static func doubt(_ witness: SealedWitness, _ vault: RingVault) -> Doubt? {
        do throws(VaultFailure) {
            let key = try vault.openConsentKey(witness.key, for: witness.id)
            let text = try vault.openText(witness.subject, as: .subject, under: key).reveal()
            guard let subject = Subject(text), vault.index(of: subject) == witness.subjectIndex else {
                return .otherIndexKey
            }
            let isLedgerKept = vault.mac(previous: [], event: witness.firstEvent) == witness.firstMAC
            return isLedgerKept ? nil : .otherLedgerKey
        } catch {
            if case .keyMissing(let keyID) = error { return .keyMissing(keyID) }
            return .otherSealingKey(witness.id)
        }
    }

    private static func sentence(of doubt: Doubt) -> String {
        switch doubt {
        case .keyMissing(let keyID):
            "the store has consents sealed under the key \(keyID), which the ring lacks: name the ring that was in use"
        case .otherSealingKey(let id):
            "the ring does not open the store's consents, such as \(id): name the ring that was in use"
        case .otherIndexKey:
            "the ring's index key is not the store's: take it from a copy of the ring that was in use"
        case .otherLedgerKey:
            "the ring's ledger key is not the store's: take it from a copy of the ring that was in use"
        }
    }
}
