// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeSystem

/// The rate budgets of those providers that have a `rate_limit`, for all who call them in this process.
package final class ProviderBudgets: Sendable {
    private let budgets: Locked<[String: RateBudget]>
    private let time: any Timekeeper

    /// - Parameter budgets: by the provider's name.
    package init(_ budgets: [String: RateBudget], time: any Timekeeper) {
        self.budgets = Locked(budgets)
        self.time = time
    }

    package func isLimited(_ name: String) -> Bool { budgets.withLock { $0[name] != nil } }

    /// A call goes out.
    package func spend(_ name: String) {
        let now = time.monotonic
        budgets.withLock { $0[name]?.spend(at: now) }
    }

    /// Waits for the turn of one background call.
    /// - Parameter mayBegin: false gives up.
    /// - Returns: whether it may go.
    package func waitForTurn(_ name: String, while mayBegin: @Sendable () -> Bool) async -> Bool {
        while mayBegin() {
            let now = time.monotonic
            guard let next = budgets.withLock({ $0[name]?.admit(at: now) }) else { return true }
            // Not for longer than a drain should have to wait.
            guard (try? await time.sleep(until: min(next, now + .milliseconds(200)))) != nil else { return false }
        }
        return false
    }
}

/// A provider whose every call is taken from its budget.
package final class BudgetedConnection: ProviderConnection {
    private let inner: any ProviderConnection
    private let budgets: ProviderBudgets

    package init(_ inner: any ProviderConnection, budgets: ProviderBudgets) {
        self.inner = inner
        self.budgets = budgets
    }

    package var facts: ProviderFacts { inner.facts }
    package var identity: (any IdentityCheck)? { inner.identity }
    package var answeringIssuer: AnsweringIssuer { get async { await inner.answeringIssuer } }

    package func exchange(_ code: consuming AuthorizationCode, _ parameters: ExchangeParameters) async -> TokenOutcome {
        budgets.spend(facts.key.name)
        return await inner.exchange(code, parameters)
    }

    package func refresh(_ refreshToken: SecretText, fence: @escaping @Sendable () -> Bool) async -> TokenOutcome {
        budgets.spend(facts.key.name)
        return await inner.refresh(refreshToken, fence: fence)
    }

    package func revoke(_ token: SecretText, kind: TokenKind) async -> RevocationOutcome {
        budgets.spend(facts.key.name)
        return await inner.revoke(token, kind: kind)
    }

    package func profile(accessToken: SecretText, limit: Duration) async -> ProfileOutcome {
        budgets.spend(facts.key.name)
        return await inner.profile(accessToken: accessToken, limit: limit)
    }

    package func takeProvenSecret() -> BlindIndex? { inner.takeProvenSecret() }
}
