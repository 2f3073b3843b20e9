// SPDX-License-Identifier: Apache-2.0
import Consents
import Observability

extension RefreshSettling {
    enum SpareTrial: Sendable {
        /// No tokens were kept apart, or none that differ.
        case none
        /// The row has them, and may be claimed again.
        case begun
        case storeUnavailable
    }

    /// Before the grant is declared dead: where a race lost tokens that were kept apart, they take the refused ones'
    /// place, once.
    func trySpare() async -> SpareTrial {
        do {
            let found = try await persistence.insist(for: .seconds(30)) { () async throws(StoreFailure) in
                try await flight.store.consent(claim.id)
            }
            guard let spare = found?.spare, found?.record.generation == claim.generation else { return .none }
            let tokens = try flight.vault.openTokens(spare.sealed, generation: spare.generation, under: grant.key)
            guard let refreshToken = tokens.refreshToken, refreshToken != grant.refreshToken else { return .none }
            var promotion = SparePromotion(
                id: claim.id, generation: claim.generation, attempt: claim.attempt, spareGeneration: spare.generation,
                tokens: try flight.vault.seal(tokens, generation: claim.generation + 1, under: grant.key),
                at: flight.time.now, event: event(.spareTried, data: ["generation": .integer(claim.generation + 1)]))
            promotion.health = HealthNote(provider: health.provider, event: .codeRefused, spread: health.spread)
            let answer = try await persistence.insist(for: .seconds(30)) { [promotion] () async throws(StoreFailure) in
                try await flight.store.promoteSpare(promotion)
            }
            guard answer == .written || answer == .alreadyWritten else { return .none }
            flight.log.notice("a refresh token was refused; the one that was kept apart is tried", facts)
            return .begun
        } catch let failure as StoreFailure {
            flight.log.error(
                "tokens that were kept apart could not be put to use", facts + [Fact(.reason, "\(failure)")])
            return .storeUnavailable
        } catch {
            flight.log.error("tokens that were kept apart cannot be opened", facts + [Fact(.reason, "\(error)")])
            return .none
        }
    }
}
