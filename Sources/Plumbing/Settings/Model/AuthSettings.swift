// SPDX-License-Identifier: Apache-2.0

/// `auth`: callers that are known from the file.
package struct AuthSettings: Sendable {
    package var apiKeys: [APIKeySettings]
    package var jwt: [JWTSettings]
}

/// One entry of `auth.api_keys`.
package struct APIKeySettings: Sendable, Equatable {
    package var name: String
    /// SHA-256 of the whole key (`cgk_NAME_RANDOM`), 32 bytes.
    package var sha256: [UInt8]
    /// Of ``knownScopes``, each once.
    package var scopes: [String]
    /// Where its name stands, for messages: `Config/gateway.yaml:12: auth.api_keys[0].name`.
    package var place: String

    package static let knownScopes = ["consents:read", "consents:write", "profiles:read", "tokens:read", "admin"]
}

/// One entry of `auth.jwt`: whose user sessions are believed, and which claim is the subject.
package struct JWTSettings: Sendable {
    package enum KeySource: Sendable, Equatable {
        case uri(String)
        case file(path: String)
    }

    package var issuer: String
    package var audience: String
    package var keys: KeySource
    package var algorithms: [String]
    package var type: String?
    package var subjectClaim: String
    package var subjectPrefix: String?
    /// From `https_proxy` and the like; nil: no proxy.
    package var proxy: SettingsSecret?
    package var noProxy: [String]
}

/// One entry of `apps`: an app for the association files and where a browser may be sent back to.
package struct AppSettings: Sendable, Equatable {
    package var appleAppID: String?
    package var androidPackage: String?
    /// SHA-256 of signing certificates in hexadecimal, as written.
    package var androidSHA256: [String]
    package var returnURLs: [String]
}

/// One entry of `notices`: what people were shown. A request names it as `ID@VERSION`.
package struct NoticeSettings: Sendable, Equatable {
    package var id: String
    package var version: String
    package var controller: String
    package var privacyPolicy: String?
    package var userAgreement: String?
    /// SHA-256 of the text shown, 64 hexadecimal digits in lower case.
    package var textSHA256: String?
    package var purposes: [String]
    package var jurisdiction: String?

    /// How requests name it.
    package var reference: String { "\(id)@\(version)" }
}
