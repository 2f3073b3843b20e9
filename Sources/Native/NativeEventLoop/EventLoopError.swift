// SPDX-License-Identifier: Apache-2.0
package import NativeSystem

/// Why a loop could not be started or could not watch a descriptor.
package enum EventLoopError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A system call failed: no descriptors, threads or memory left, or a descriptor that cannot be watched.
    case system(SystemCallError)

    package var description: String {
        switch self {
        case .system(let error): "the event loop: \(error)"
        }
    }
}
