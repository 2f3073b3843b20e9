// SPDX-License-Identifier: Apache-2.0
/// Which profiles were not to be had when their consent came, and are fetched later.
package protocol PendingProfiles: Sendable {
    /// One provider's live consents whose profile is pending and whose next try is due, those never tried first.
    func pendingProfiles(of provider: ProviderKey, at now: Instant, limit: Int) async throws(StoreFailure)
        -> [PendingProfile]
    /// Takes one to try it now, and sets the time of the try after: of several processes one does.
    /// - Returns: whether it is the caller's to try.
    func claimProfile(_ pending: PendingProfile, again later: Instant, at now: Instant) async throws(StoreFailure)
        -> Bool
}

/// A profile that waits.
package struct PendingProfile: Sendable, Equatable {
    package var id: ConsentID
    /// How often it was tried.
    package var tries: Int

    package init(id: ConsentID, tries: Int) {
        self.id = id
        self.tries = tries
    }
}
