// SPDX-License-Identifier: Apache-2.0
/// Which authorization server a consent belongs to: the configured name, and the preset's environment where there is
/// one.
package struct ProviderKey: Hashable, Sendable {
    package let name: String
    /// `live`, `sandbox` or `mock`; nil without a preset.
    package let environment: String?

    package init(name: String, environment: String?) {
        self.name = name
        self.environment = environment
    }
}

/// The client registration that a grant was issued to. A grant is only ever sent back to the same one.
package struct IssuingClient: Hashable, Sendable {
    package let clientID: String
    package let tokenEndpoint: String

    package init(clientID: String, tokenEndpoint: String) {
        self.clientID = clientID
        self.tokenEndpoint = tokenEndpoint
    }
}

/// What the SDK's authorization response told about the app: a hint, kept for the record.
package struct ClientApp: Hashable, Sendable {
    package let platform: String?
    package let productName: String?
    package let sdkVersion: String?

    package init(platform: String?, productName: String?, sdkVersion: String?) {
        self.platform = platform
        self.productName = productName
        self.sdkVersion = sdkVersion
    }
}

/// The notice that the person was shown, as `ID@VERSION`.
package struct NoticeReference: Hashable, Sendable {
    package let text: String
    /// True where the request named none and the gateway took the only configured one.
    package let isAssumed: Bool

    package init(text: String, isAssumed: Bool) {
        self.text = text
        self.isAssumed = isAssumed
    }
}
