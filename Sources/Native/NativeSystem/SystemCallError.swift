// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A system call that failed: which one, and its `errno` (errno(3)).
package struct SystemCallError: Error, Sendable, Equatable, CustomStringConvertible {
    package let call: String
    package let code: Int32

    package init(_ call: String, code: Int32) {
        self.call = call
        self.code = code
    }

    /// The call that failed just now on this thread.
    package static func last(_ call: String) -> SystemCallError {
        SystemCallError(call, code: errno)
    }

    package var description: String {
        var text = [CChar](repeating: 0, count: 128)
        let count = text.count
        let reason = unsafe text.withUnsafeMutableBufferPointer { unsafe clearText(code, $0.baseAddress, count) }
        return "\(call): \(reason)"
    }
}

/// The text of an error number; `strerror_r` because `strerror` is not safe between threads.
private func clearText(_ code: Int32, _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int) -> String {
    guard let buffer = unsafe buffer, unsafe strerror_r(code, buffer, size) == 0 else { return "error \(code)" }
    return unsafe String(cString: buffer)
}
