// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Where a command's words go.
package enum OutputStream: Int32, Sendable {
    case standardOutput = 1
    case standardError = 2

    /// Writes all of the text, waiting for the reader where it must (write(2)).
    /// - Returns: false where the reader has gone or the device refuses.
    @discardableResult
    package func write(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(rawValue, $0.baseAddress, $0.count) }
            if count < 0 {
                guard errno == EINTR else { return false }
                continue
            }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
