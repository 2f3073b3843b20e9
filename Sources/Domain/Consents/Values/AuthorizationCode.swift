// SPDX-License-Identifier: Apache-2.0
/// An authorization code (RFC 6749, section 4.1.2) that has not been spent.
///
/// It cannot be copied, and spending it consumes it: a second exchange of one value does not compile.
package struct AuthorizationCode: ~Copyable, Sendable {
    private let text: SecretText

    /// - Returns: nil for an empty code. Its length has no bound but the request body's.
    package init?(_ text: String) {
        guard !text.isEmpty else { return nil }
        self.text = SecretText(text)
    }

    /// Lets the vault make the code's digest, and nothing else.
    package borrowing func withText<Result>(_ body: (String) -> Result) -> Result { body(text.reveal()) }

    /// The code for the one request that spends it.
    package consuming func redeem() -> SecretText { text }
}
