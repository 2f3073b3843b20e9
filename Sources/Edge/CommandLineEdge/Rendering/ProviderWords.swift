// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeJSON

extension ProviderKey {
    /// As in `paypal (sandbox)`.
    var words: String { name + (environment.map { " (\($0))" } ?? "") }
}

extension JSONValue {
    /// An object that begins with the provider's name and environment.
    static func object(of provider: ProviderKey) -> JSONValue {
        var object = JSONValue.object()
        object.set("provider", provider.name)
        object.set("environment", provider.environment)
        return object
    }
}

/// As in `3 grants`.
func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
