// SPDX-License-Identifier: Apache-2.0
import Consents
import Observability

/// Tells the store which of a client's secrets has worked, so that every process begins with it. Done after what the
/// call brought is kept; where the store does not take it, a later call pays one more refusal and tells again.
struct TellProvenSecret: Sendable {
    let store: any ProviderHealthStore
    let time: any Timekeeper
    let log: Log

    /// - Parameter digest: how the store knows the secret.
    func callAsFunction(_ digest: BlindIndex, of provider: ProviderKey) async {
        do throws(StoreFailure) {
            try await store.keepFirstSecret(digest, of: provider, at: time.now)
            log.notice(
                "a provider takes another of the client's secrets: it goes first from now on",
                [Fact(.provider, provider.name)])
        } catch {
            log.warning(
                "the store did not take which of a client's secrets works",
                [Fact(.provider, provider.name), Fact(.reason, "\(error)")])
        }
    }
}
