// SPDX-License-Identifier: Apache-2.0
package import NativeEventLoop
package import NativeSystem

/// Why a server could not be started.
package enum HTTPServerError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The host is no IPv4 or IPv6 address.
    case notAnAddress(String)
    /// A socket could not be bound: the address is in use, not ours, or needs a privilege.
    case cannotListen(SystemCallError)
    /// libmicrohttpd did not start.
    case library
    /// The loop could not watch the library.
    case loop(EventLoopError)

    package var description: String {
        switch self {
        case .notAnAddress(let host): "\(host) is not an IPv4 or IPv6 address"
        case .cannotListen(let error): "cannot listen: \(error)"
        case .library: "libmicrohttpd could not be started"
        case .loop(let error): "\(error)"
        }
    }
}
