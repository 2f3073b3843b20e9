// SPDX-License-Identifier: Apache-2.0
package import Consents

/// Opens stored records for those who may read them.
package final class RecordOpening: Sendable {
    let vault: any TokenVault

    package init(vault: any TokenVault) { self.vault = vault }

    /// - Parameter withProfile: whether the attributes are opened too.
    /// - Throws: `VaultFailure`; `unreadable` where the record has no subject any more.
    package func open(_ stored: StoredConsent, withProfile: Bool) throws(VaultFailure) -> OpenedConsent {
        guard let envelope = stored.key, let sealedSubject = stored.subject else { throw .unreadable }
        let key = try vault.openConsentKey(envelope, for: stored.record.id)
        let text = try vault.openText(sealedSubject, as: .subject, under: key)
        guard let subject = Subject(text.reveal()) else { throw .unreadable }
        var providerSubject: SecretText?
        if let sealed = stored.providerSubject {
            providerSubject = try vault.openText(sealed, as: .providerSubject, under: key)
        }
        var profile: Profile?
        if withProfile, let sealed = stored.profile { profile = try vault.openProfile(sealed, under: key) }
        return OpenedConsent(
            stored, subject: subject, providerSubject: providerSubject, profile: profile)
    }
}
