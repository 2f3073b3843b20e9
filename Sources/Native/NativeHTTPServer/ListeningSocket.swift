// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import NativeSystem

/// An IPv4 or IPv6 address with a port, as the kernel wants it.
enum SocketAddress {
    case ipv4(sockaddr_in)
    case ipv6(sockaddr_in6)

    /// - Throws: `HTTPServerError.notAnAddress` for names, and for anything else that inet_pton(3) does not take.
    init(host: String, port: UInt16) throws(HTTPServerError) {
        var four = sockaddr_in()
        var six = sockaddr_in6()
        if unsafe inet_pton(AF_INET, host, &four.sin_addr) == 1 {
            four.sin_family = sa_family_t(AF_INET)
            four.sin_port = port.bigEndian
            self = .ipv4(four)
        } else if unsafe inet_pton(AF_INET6, host, &six.sin6_addr) == 1 {
            six.sin6_family = sa_family_t(AF_INET6)
            six.sin6_port = port.bigEndian
            self = .ipv6(six)
        } else {
            throw .notAnAddress(host)
        }
    }

    var family: Int32 {
        switch self {
        case .ipv4: AF_INET
        case .ipv6: AF_INET6
        }
    }

    /// What bind(2) says.
    func bind(_ descriptor: Int32) -> Int32 {
        switch self {
        case .ipv4(var address): unsafe SocketAddress.bind(descriptor, &address, MemoryLayout<sockaddr_in>.size)
        case .ipv6(var address): unsafe SocketAddress.bind(descriptor, &address, MemoryLayout<sockaddr_in6>.size)
        }
    }

    private static func bind(_ descriptor: Int32, _ address: UnsafeMutableRawPointer, _ size: Int) -> Int32 {
        unsafe Glibc.bind(descriptor, address.assumingMemoryBound(to: sockaddr.self), socklen_t(size))
    }
}

/// A socket that listens on an address which other sockets of the process may share (`SO_REUSEPORT`, socket(7)).
struct ListeningSocket: ~Copyable {
    private var descriptor: Int32

    private init(owning descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// - Throws: `HTTPServerError.cannotListen`, `notAnAddress`.
    static func open(host: String, port: UInt16) throws(HTTPServerError) -> ListeningSocket {
        let address = try SocketAddress(host: host, port: port)
        let flags = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(address.family, flags, 0)
        guard descriptor >= 0 else { throw .cannotListen(.last("socket")) }
        let opened = ListeningSocket(owning: descriptor)
        do throws(SystemCallError) {
            try prepare(descriptor, address, isShared: true)
        } catch { throw .cannotListen(error) }
        return opened
    }

    /// Another descriptor of the same socket, with the same queue of connections.
    /// - Throws: `HTTPServerError.cannotListen`.
    static func duplicate(of descriptor: Int32) throws(HTTPServerError) -> ListeningSocket {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw .cannotListen(.last("fcntl")) }
        return ListeningSocket(owning: copy)
    }

    /// Sees to it that nobody else listens there: a second process of the same user would share the port in silence.
    ///
    /// - Throws: `HTTPServerError.cannotListen` with `EADDRINUSE`, `notAnAddress`.
    static func checkUnused(host: String, port: UInt16) throws(HTTPServerError) {
        let address = try SocketAddress(host: host, port: port)
        let descriptor = socket(address.family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .cannotListen(.last("socket")) }
        let probe = ListeningSocket(owning: descriptor)
        do throws(SystemCallError) {
            try prepare(probe.descriptor, address, isShared: false)
        } catch { throw .cannotListen(error) }
    }

    private static func prepare(
        _ descriptor: Int32, _ address: SocketAddress, isShared: Bool
    ) throws(SystemCallError) {
        var options = [(SOL_SOCKET, SO_REUSEADDR)]
        if isShared { options.append((SOL_SOCKET, SO_REUSEPORT)) }
        if address.family == AF_INET6 { options.append((Int32(IPPROTO_IPV6), Int32(IPV6_V6ONLY))) }
        for (level, option) in options {
            var yes: Int32 = 1
            let code = unsafe setsockopt(descriptor, level, option, &yes, socklen_t(MemoryLayout<Int32>.size))
            guard code == 0 else { throw .last("setsockopt") }
        }
        guard address.bind(descriptor) == 0 else { throw .last("bind") }
        guard !isShared || listen(descriptor, 4_096) == 0 else { throw .last("listen") }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// The port that it is bound to.
    var port: UInt16 {
        var address = sockaddr_in6()
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let code = unsafe withUnsafeMutablePointer(to: &address) {
            unsafe getsockname(descriptor, UnsafeMutableRawPointer($0).assumingMemoryBound(to: sockaddr.self), &size)
        }
        // The port stands at the same place in both families' addresses.
        return code == 0 ? UInt16(bigEndian: address.sin6_port) : 0
    }

    /// The descriptor, which is the caller's to close from here on.
    consuming func release() -> Int32 {
        let released = descriptor
        descriptor = -1
        return released
    }
}

extension PeerAddress {
    /// The peer's address as accept(2) gave it; empty for a family that we do not listen on.
    init(_ address: UnsafePointer<sockaddr>?) {
        self.init(text: "", bytes: [], port: 0)
        guard let address = unsafe address else { return }
        let raw = unsafe UnsafeRawPointer(address)
        switch Int32(unsafe address.pointee.sa_family) {
        case AF_INET:
            let four = unsafe raw.loadUnaligned(as: sockaddr_in.self)
            self = PeerAddress(AF_INET, four.sin_addr, port: four.sin_port)
        case AF_INET6:
            let six = unsafe raw.loadUnaligned(as: sockaddr_in6.self)
            self = PeerAddress(AF_INET6, six.sin6_addr, port: six.sin6_port)
        default:
            break
        }
    }

    private init(_ family: Int32, _ address: some Any, port: in_port_t) {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let size = socklen_t(text.count)
        let bytes = unsafe withUnsafeBytes(of: address) { raw in
            unsafe inet_ntop(family, raw.baseAddress, &text, size)
            return unsafe [UInt8](raw)
        }
        let name = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        self.init(text: String(decoding: name, as: UTF8.self), bytes: bytes, port: UInt16(bigEndian: port))
    }
}
