// SPDX-License-Identifier: Apache-2.0
/// What a consent receipt is made of (ISO/IEC TS 27560): a record, its whole trail, and the notice that it names.
package struct ConsentReceipt: Sendable {
    /// Its profile is not opened: a receipt holds no attribute.
    package let consent: OpenedConsent
    /// Oldest first, at least one.
    package let events: [StoredEvent]
    /// The notice that the record names, where the configuration still has it.
    package let notice: PrivacyNotice?
    package let issuedAt: Instant

    /// - Returns: nil without an event: a receipt is tied to the ledger by the last one.
    package init?(consent: OpenedConsent, events: [StoredEvent], notice: PrivacyNotice?, issuedAt: Instant) {
        guard let head = events.last else { return nil }
        self.consent = consent
        self.events = events
        self.notice = notice
        self.issuedAt = issuedAt
        self.head = head
    }

    /// Where the consent's chain ends: the event that ties the receipt to the ledger.
    package let head: StoredEvent

    /// What the receipt is called: of the same events there is one receipt.
    package var identifier: String { "\(consent.record.id)-\(head.sequence)" }

    /// When the last event was written that told of a change: readings change nothing.
    package var changedAt: Instant {
        events.last { $0.draft.type.isChange }?.draft.at ?? head.draft.at
    }

    /// How the consent's state came to be, oldest first: one step for each event that changed it.
    package var steps: [ConsentStep] { events.compactMap(ConsentStep.init) }

    /// The categories of personal data that the scopes cover which were asked for and granted, each once: what was
    /// granted beyond the request is never read.
    package var categories: [DataCategory] {
        let (requested, granted) = (consent.record.requested, consent.record.granted)
        return DataCategory.allCases.filter { category in
            category.scopes.contains { requested.contains($0) && granted.contains($0) }
        }
    }
}

extension EventType {
    /// Whether it tells of a change of the record.
    fileprivate var isChange: Bool {
        switch self {
        case .profileRead, .tokenRead, .tokenRevocation, .codeOfOtherSubject, .providerSubjectChanged,
            .providerSubjectShared, .identityUnverified, .idTokenRefused, .profileRefused, .reauthorizationSoon,
            .spareKept, .spareTried:
            false
        case .created, .renewed, .superseded, .expired, .refreshed, .refreshFailed, .reauthorizationRequired,
            .profileFetched, .profileChanged, .revoked, .erased, .evidenceRemoved:
            true
        }
    }
}

/// One change of a consent's state, in the words of the Data Privacy Vocabulary.
package struct ConsentStep: Sendable, Equatable {
    package enum State: String, Sendable {
        case given = "ConsentGiven"
        case renewed = "RenewedConsentGiven"
        /// By the person.
        case withdrawn = "ConsentWithdrawn"
        /// By somebody else: an operator, or the end of retention.
        case revoked = "ConsentRevoked"
        /// Its time is over, or a newer record took its place.
        case expired = "ConsentExpired"
        /// The provider holds the grant no more; whether the person withdrew it there is not known.
        case unknown = "ConsentUnknown"

        package var isGiving: Bool { self == .given || self == .renewed }
    }
    package var state: State
    /// When the gateway learned of it and wrote it down.
    package var at: Instant
    /// Why, in the word of the event; nil for a giving.
    package var reason: String?
    /// Which app the person used, where the request told it: `PayPal iOS SDK 2.18.1, iOS`.
    package var app: String?
    /// The notice that it was given under, as `ID@VERSION`; nil for any other step, or where there was none.
    package var notice: NoticeReference?
    /// What was granted with it; nil for any other step.
    package var granted: ScopeSet?

    /// - Returns: nil where the event changes no state.
    init?(_ event: StoredEvent) {
        let draft = event.draft
        func text(_ name: String) -> String? { if case .text(let text) = draft.data[name] { text } else { nil } }
        at = draft.at
        reason = text("reason")
        switch draft.type {
        case .created: state = .given
        case .renewed: state = .renewed
        case .superseded: state = .expired
        case .expired: state = .expired
        case .reauthorizationRequired: state = ConsentStep.isByPerson(reason) ? .withdrawn : .unknown
        case .revoked: state = ConsentStep.isByPerson(reason) ? .withdrawn : .revoked
        default: return nil
        }
        if draft.type == .superseded { reason = ConsentStatus.superseded.rawValue }
        guard state.isGiving else { return }
        let product = [text("app_product"), text("app_sdk_version")].compactMap(\.self).joined(separator: " ")
        let parts = [product, text("app_platform") ?? ""].filter { !$0.isEmpty }
        if !parts.isEmpty { app = parts.joined(separator: ", ") }
        notice = text("notice").map {
            NoticeReference(text: $0, isAssumed: draft.data["notice_assumed"] == .text("true"))
        }
        granted = text("scopes_granted").map(ScopeSet.init(blankSeparated:))
    }

    private static func isByPerson(_ reason: String?) -> Bool {
        reason == StatusReason.user.rawValue || reason == StatusReason.withdrawnAtProvider.rawValue
    }
}

/// A category of personal data, by its name in the vocabulary's extension `pd`.
package enum DataCategory: String, Sendable, CaseIterable {
    case identifier = "UID"
    case name = "Name"
    case profile = "Profile"
    case emailAddress = "EmailAddress"
    case telephoneNumber = "TelephoneNumber"
    case physicalAddress = "PhysicalAddress"
    case financialAccount = "FinancialAccount"

    /// The scopes that cover it (OpenID Connect Core, section 5.4; PayPal's own for the last).
    var scopes: [String] {
        switch self {
        case .identifier: ["openid"]
        case .name, .profile: ["profile"]
        case .emailAddress: ["email"]
        case .telephoneNumber: ["phone"]
        case .physicalAddress: ["address"]
        case .financialAccount: [ClaimName.payPalAttributesScope]
        }
    }
}
