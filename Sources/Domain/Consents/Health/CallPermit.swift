// SPDX-License-Identifier: Apache-2.0

/// Who wants to call a provider.
package enum ProviderAsker: Sendable, Equatable {
    /// With a code that somebody waits for: no grant is at stake.
    case exchange
    case refresh
    /// With a refresh token, on an operator's word: no wait between trials holds it back.
    case operatorsRefresh
}

/// What keeps a call from being made.
package enum BlockReason: String, Sendable, Equatable, CaseIterable {
    case gate, breaker, pause, brake
}

/// Whether a call may be made.
package enum CallPermit: Sendable, Equatable {
    case free
    /// As the one call that is to show whether it is better.
    case trial
    /// - Parameter until: when it may be asked for again; it may be blocked then, too.
    case blocked(until: Instant, BlockReason)
}

extension ProviderHealth {
    /// Whether somebody may call the provider now.
    package func permit(_ asker: ProviderAsker, at now: Instant) -> CallPermit {
        if let gate, gate.until > now, gate.isBelieved(at: now) { return .blocked(until: gate.until, .gate) }
        guard let reason = reasonForTrial(asker) else { return .free }
        if let trial, trial.stands(at: now) {
            return .blocked(until: min(trial.until, now.advanced(by: HealthLimits.trialPoll)), reason)
        }
        if asker != .operatorsRefresh, let next = nextTrialAt, next > now,
            next <= now.advanced(by: HealthLimits.longestWaitUnknown)
        {
            return .blocked(until: next, reason)
        }
        return .trial
    }

    /// Why not everybody may call; codes are none of the brake's, and cost no grant where an outcome is unknown.
    private func reasonForTrial(_ asker: ProviderAsker) -> BlockReason? {
        if pause != nil { return .pause }
        if let breaker, asker != .exchange || breaker.reason == .unreachable { return .breaker }
        return brakeSince != nil && asker != .exchange ? .brake : nil
    }

    /// Makes an attempt the trial.
    /// - Parameter lease: how long it may take; an instance that ends with it holds the next one up no longer.
    package mutating func begin(_ attempt: AttemptID, for lease: Duration, at now: Instant) {
        trial = Trial(attempt: attempt, until: now.advanced(by: min(lease, HealthLimits.longestTrial)))
        if pause != nil || brakeSince != nil { nextTrialAt = now.advanced(by: HealthLimits.trialInterval) }
    }
}
