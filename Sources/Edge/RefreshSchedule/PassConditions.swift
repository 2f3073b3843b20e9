// SPDX-License-Identifier: Apache-2.0
package import Consents

/// Under which conditions background work may go on.
package struct PassConditions: Sendable {
    /// False from when the process drains.
    package let mayBegin: @Sendable () -> Bool
    /// Until when a provider may not be called, by the store's clock; nil where it may.
    package let blockedUntil: @Sendable (ProviderKey) async -> Instant?

    package init(
        mayBegin: @escaping @Sendable () -> Bool, blockedUntil: @escaping @Sendable (ProviderKey) async -> Instant?
    ) {
        self.mayBegin = mayBegin
        self.blockedUntil = blockedUntil
    }
}

/// What passes over one kind of work did.
package struct PassTally: Sendable, Equatable {
    package var done = 0
    package var failed = 0

    package init() {}

    package static func += (left: inout PassTally, right: PassTally) {
        left.done += right.done
        left.failed += right.failed
    }
}
