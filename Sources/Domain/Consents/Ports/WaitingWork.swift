// SPDX-License-Identifier: Apache-2.0

/// What a pass of the scheduled job would find in the store at one moment.
package struct WaitingWork: Sendable, Equatable {
    /// Grants that ended instances got and made no consents of.
    package var grants: Int
    /// Codes, then refreshes, that ended instances had on the wire: their outcome is to be named unknown.
    package var codesOnTheWire: Int
    package var refreshesOnTheWire: Int
    /// Deliveries that are due, those that wait for an earlier one of their consent among them.
    package var revocations: [ProviderCount]
    /// Consents whose refresh is due.
    package var refreshes: [ProviderCount]
    /// Live consents whose profile has not been fetched yet.
    package var profiles: [ProviderCount]

    package init(
        grants: Int, codesOnTheWire: Int, refreshesOnTheWire: Int, revocations: [ProviderCount],
        refreshes: [ProviderCount], profiles: [ProviderCount]
    ) {
        self.grants = grants
        self.codesOnTheWire = codesOnTheWire
        self.refreshesOnTheWire = refreshesOnTheWire
        self.revocations = revocations
        self.refreshes = refreshes
        self.profiles = profiles
    }
}

/// How many of one provider's; at least 1.
package struct ProviderCount: Sendable, Equatable {
    package var provider: ProviderKey
    package var count: Int

    package init(provider: ProviderKey, count: Int) {
        self.provider = provider
        self.count = count
    }
}
