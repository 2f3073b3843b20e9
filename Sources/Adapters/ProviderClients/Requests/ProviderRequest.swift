// SPDX-License-Identifier: Apache-2.0
import Consents

/// A request as it goes to a provider, whole, before any socket is involved. Harmless when printed.
struct ProviderRequest: Sendable {
    let url: String
    /// In the order in which they are sent.
    let headers: [(name: String, value: String)]
    /// A form-encoded body for POST; nil for GET.
    let form: [UInt8]?
    /// The values in it that a provider's text must be freed of before anybody sees that text.
    let sent: [SecretText]
    /// Whether the same bytes are good once only, though what they ask for is harmless to repeat.
    var isOneTime = false
}

extension ProviderRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { "a request to a provider" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
