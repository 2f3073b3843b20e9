// SPDX-License-Identifier: Apache-2.0
/// What a consent's events, followed from the first, say of its record: pure.
///
/// It tells only what the events determine. A refresh whose process ended with the request on the wire makes a record
/// `failing` without an event, so after a giving or a refresh `active` and `failing` are one state here; after a failed
/// refresh it is `failing`. Counters, times of fetching and refreshing, and `updated_at` stand in no event.
package struct ChainState: Sendable {
    private struct Told: Sendable {
        /// Any of these; nil is a column without a value.
        var allowed: [EventValue?]
        var sequence: Int64
    }
    private var told: [RecordColumn: Told] = [:]

    package init() {}

    package mutating func follow(_ event: EventDraft, sequence: Int64) {
        switch event.type {
        case .created:
            tell(.createdAt, .integer(event.at.milliseconds), sequence)
            tell(.provider, event.data["provider"], sequence)
            tell(.environment, event.data["environment"] ?? .text(""), sequence)
            tell(.supersededBy, nil, sequence)
            // Until an event tells of an erasure.
            tell(.erasedAt, nil, sequence)
            give(event, sequence)
        case .renewed: give(event, sequence)
        case .refreshed:
            hold([.active, .failing], sequence)
            tell(.isRefreshable, .integer(1), sequence)
            tell(.granted, event.data["scopes_granted"], sequence)
            tell(.accessTokenExpiresAt, event.data["access_token_expires_at"], sequence)
        case .refreshFailed:
            // Of a grant that was over before an operator forced a try, it changes nothing.
            if event.data["forced"] == nil { hold([.failing], sequence) }
        case .reauthorizationRequired: end(.reauthorizationRequired, event.data["reason"], sequence)
        case .expired: end(.expired, event.data["reason"], sequence)
        case .revoked:
            end(.revoked, event.data["reason"], sequence)
            tell(.isRefreshable, .integer(0), sequence)
        case .superseded:
            end(.superseded, nil, sequence)
            tell(.supersededBy, event.data["superseded_by"], sequence)
            tell(.isRefreshable, .integer(0), sequence)
        case .erased: tell(.erasedAt, .integer(event.at.milliseconds), sequence)
        case .evidenceRemoved: told = [:]
        case .profileFetched, .profileChanged, .profileRead, .tokenRead, .tokenRevocation, .codeOfOtherSubject,
            .providerSubjectChanged, .providerSubjectShared,
            .identityUnverified, .idTokenRefused, .profileRefused, .reauthorizationSoon, .spareKept, .spareTried:
            break
        }
    }

    /// In the order of the columns.
    package func differences(from facts: RecordFacts) -> [RecordDifference] {
        RecordColumn.allCases.compactMap { column in
            guard let told = told[column], !told.allowed.contains(facts.values[column]) else { return nil }
            return RecordDifference(column: column, sequence: told.sequence)
        }
    }

    /// What a giving tells; an app's or a notice's name that it does not tell was not there.
    private mutating func give(_ event: EventDraft, _ sequence: Int64) {
        let data = event.data
        hold([.active, .failing], sequence)
        tell(.requested, data["scopes_requested"], sequence)
        tell(.granted, data["scopes_granted"], sequence)
        tell(.notice, data["notice"], sequence)
        let isAssumed = data["notice_assumed"] == .text("true")
        tell(.isNoticeAssumed, data["notice"] == nil ? nil : .integer(isAssumed ? 1 : 0), sequence)
        tell(.appPlatform, data["app_platform"], sequence)
        tell(.appProduct, data["app_product"], sequence)
        tell(.appVersion, data["app_sdk_version"], sequence)
        tell(.accessTokenExpiresAt, data["access_token_expires_at"], sequence)
        tell(.isRefreshable, .integer(data["offline"] == .text("none") ? 0 : 1), sequence)
    }

    private mutating func hold(_ states: [ConsentStatus], _ sequence: Int64) {
        told[.status] = Told(allowed: states.map { .text($0.rawValue) }, sequence: sequence)
        tell(.statusReason, nil, sequence)
    }

    private mutating func end(_ status: ConsentStatus, _ reason: EventValue?, _ sequence: Int64) {
        tell(.status, .text(status.rawValue), sequence)
        tell(.statusReason, reason, sequence)
    }

    private mutating func tell(_ column: RecordColumn, _ value: EventValue?, _ sequence: Int64) {
        told[column] = Told(allowed: [value], sequence: sequence)
    }
}
