// SPDX-License-Identifier: Apache-2.0
/// What a consent's row tells that its chain of events tells too: as it stands in the columns, so that a word which no
/// program would write can be named as well.
package struct RecordFacts: Sendable, Equatable {
    /// By column; a column that is NULL has no value here.
    package var values: [RecordColumn: EventValue]

    package init(_ values: [RecordColumn: EventValue]) { self.values = values }
}

/// A column of a consent's row, or of its events, that the chain speaks of; by its name in the store.
package enum RecordColumn: String, Sendable, CaseIterable {
    case provider
    /// Empty without a preset.
    case environment
    case status
    case statusReason = "status_reason"
    case supersededBy = "superseded_by"
    case requested = "requested_scopes"
    case granted = "granted_scopes"
    case notice
    case isNoticeAssumed = "notice_is_assumed"
    case appPlatform = "app_platform"
    case appProduct = "app_product_name"
    case appVersion = "app_sdk_version"
    case accessTokenExpiresAt = "access_token_expires_at"
    case isRefreshable = "is_refreshable"
    case createdAt = "created_at"
    case erasedAt = "erased_at"
    // Sealed, or made of what is sealed: only the vault can hold these against the events' digests.
    case key = "key_sealed"
    case subject = "subject_sealed"
    case subjectIndex = "subject_index"
    case providerSubject = "provider_subject_sealed"
    case providerSubjectIndex = "provider_subject_index"
    /// Of an event: the salts and values behind its digests.
    case personal = "personal_sealed"
}

/// A column that does not agree with the chain, and the event that tells otherwise.
package struct RecordDifference: Sendable, Equatable {
    package let column: RecordColumn
    package let sequence: Int64

    package init(column: RecordColumn, sequence: Int64) {
        self.column = column
        self.sequence = sequence
    }
}

/// A consent's row as its evidence is verified by: where its chain ends, what it tells in clear, and its envelopes.
package struct LedgerRecord: Sendable, Equatable {
    package var head: ChainHead
    package var facts: RecordFacts
    package var key: SealedBytes?
    package var subject: SealedBytes?
    package var subjectIndex: BlindIndex
    package var providerSubject: SealedBytes?
    package var providerSubjectIndex: BlindIndex?

    package init(
        head: ChainHead, facts: RecordFacts, key: SealedBytes?, subject: SealedBytes?, subjectIndex: BlindIndex,
        providerSubject: SealedBytes?, providerSubjectIndex: BlindIndex?
    ) {
        self.head = head
        self.facts = facts
        self.key = key
        self.subject = subject
        self.subjectIndex = subjectIndex
        self.providerSubject = providerSubject
        self.providerSubjectIndex = providerSubjectIndex
    }
}
