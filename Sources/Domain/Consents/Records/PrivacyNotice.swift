// SPDX-License-Identifier: Apache-2.0
/// What people were shown before they consented, as the configuration describes it (contract, section 1, `notices`).
package struct PrivacyNotice: Sendable, Equatable {
    package var id: String
    package var version: String
    /// Who is responsible, by name.
    package var controller: String
    package var privacyPolicy: String?
    package var userAgreement: String?
    /// SHA-256 of the text shown, 64 hexadecimal digits in lower case.
    package var textSHA256: String?
    /// In the order of the configuration.
    package var purposes: [String]
    /// As written; by convention an ISO 3166 code such as `DE`.
    package var jurisdiction: String?

    package init(
        id: String, version: String, controller: String, privacyPolicy: String?, userAgreement: String?,
        textSHA256: String?, purposes: [String], jurisdiction: String?
    ) {
        self.id = id
        self.version = version
        self.controller = controller
        self.privacyPolicy = privacyPolicy
        self.userAgreement = userAgreement
        self.textSHA256 = textSHA256
        self.purposes = purposes
        self.jurisdiction = jurisdiction
    }

    /// How requests and records name it.
    package var reference: String { "\(id)@\(version)" }
}
