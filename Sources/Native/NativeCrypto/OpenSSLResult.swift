// SPDX-License-Identifier: Apache-2.0
internal import COpenSSL

/// OpenSSL lacks an algorithm, or its configuration file keeps it from loading one (openssl-env(7), config(5)).
package struct CryptoUnavailable: Error, Sendable, Equatable, CustomStringConvertible {
    /// As OpenSSL names it, such as `AES-256-GCM`.
    package let algorithm: String

    package init(algorithm: String) { self.algorithm = algorithm }

    package var description: String {
        "OpenSSL gives no \(algorithm): look at its configuration (`openssl version -d`, OPENSSL_CONF)"
    }
}

/// What becomes of every OpenSSL result that does not tell something about the data.
///
/// Past the fetch of an algorithm only memory can be lacking, and no caller can mend that: the process ends with the
/// name of the call, never with data.
func check(_ code: Int32, _ call: StaticString) {
    guard code == 1 else { preconditionFailure("\(call) failed: \(lastReason())") }
}

/// The same for calls that make something.
func check(_ made: OpaquePointer?, _ call: StaticString) -> OpaquePointer {
    guard let made = unsafe made else { preconditionFailure("\(call) failed: \(lastReason())") }
    return unsafe made
}

private func lastReason() -> String {
    guard let text = unsafe ERR_reason_error_string(ERR_get_error()) else { return "no reason told" }
    return unsafe String(cString: text)
}
