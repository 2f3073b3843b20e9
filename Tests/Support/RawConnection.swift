// SPDX-License-Identifier: Apache-2.0
import Glibc
package import NativeSystem

/// A TCP connection to a loopback port that sends what it is told, byte for byte, and reads with a deadline.
///
/// It knows nothing of HTTP: what a test sends may be as wrong as it likes.
package final class RawConnection: Sendable {
    /// What went wrong, with the bytes that had come until then.
    package enum Failure: Error {
        case system(SystemCallError)
        case deadlinePassed(after: [UInt8])
        case closedEarly(after: [UInt8])
    }

    package let descriptor: Int32
    private let buffered = Locked<[UInt8]>([])

    /// Connects to `127.0.0.1`, or to `::1`.
    package init(port: UInt16, isIPv6: Bool = false) throws {
        descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure.system(.last("socket")) }
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard (isIPv6 ? dialIPv6(port) : dialIPv4(port)) == 0 else { throw Failure.system(.last("connect")) }
    }

    deinit {
        close(descriptor)
    }

    private func dialIPv4(_ port: UInt16) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
        }
    }

    private func dialIPv6(_ port: UInt16) -> Int32 {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        address.sin6_addr = in6addr_loopback
        let size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
        }
    }

    /// Sends every byte.
    package func send(_ text: String) throws {
        try send(Array(text.utf8))
    }

    /// Sends every byte.
    package func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure.system(.last("send")) }
            sent += count
        }
    }

    /// Ends our side of the stream; the other side may go on sending.
    package func finishSending() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Closes both sides at once with a reset, as a peer that crashed.
    package func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        var address = sockaddr()
        address.sa_family = sa_family_t(AF_UNSPEC)
        connect(descriptor, &address, socklen_t(MemoryLayout<sockaddr>.size))
    }

    /// The bytes up to and with `end`; what came after them stays for the next read.
    package func read(through end: String, within limit: Duration = .seconds(60)) async throws -> [UInt8] {
        let pattern = Array(end.utf8)
        return try await read(within: limit) { bytes in
            guard bytes.count >= pattern.count else { return nil }
            return (0...(bytes.count - pattern.count)).first { bytes[$0..<($0 + pattern.count)].elementsEqual(pattern) }
                .map { $0 + pattern.count }
        }
    }

    /// The next `count` bytes.
    package func read(count: Int, within limit: Duration = .seconds(60)) async throws -> [UInt8] {
        try await read(within: limit) { $0.count >= count ? count : nil }
    }

    /// Everything until the other side ends the stream.
    package func readToEnd(within limit: Duration = .seconds(60)) async throws -> [UInt8] {
        do {
            return try await read(within: limit) { _ in nil }
        } catch Failure.closedEarly(let bytes) {
            return bytes
        }
    }

    private func read(
        within limit: Duration, until isEnough: @escaping @Sendable ([UInt8]) -> Int?
    ) async throws -> [UInt8] {
        let deadline = MonotonicInstant.now().advanced(by: limit)
        return try await onOwnThread { [self] in
            var bytes = buffered.withLock { held in
                defer { held = [] }
                return held
            }
            while true {
                if let count = isEnough(bytes) {
                    let rest = Array(bytes[count...])
                    buffered.withLock { $0 = rest }
                    return Array(bytes[..<count])
                }
                guard try receive(into: &bytes, until: deadline) else { throw Failure.closedEarly(after: bytes) }
            }
        }
    }

    /// False at the end of the stream, a reset included.
    private func receive(into bytes: inout [UInt8], until deadline: MonotonicInstant) throws -> Bool {
        let left = MonotonicInstant.now().duration(to: deadline).wholeNanoseconds / 1_000_000
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard left > 0, poll(&watched, 1, Int32(clamping: left)) > 0 else {
            throw Failure.deadlinePassed(after: bytes)
        }
        var part = [UInt8](repeating: 0, count: 16_384)
        let count = recv(descriptor, &part, part.count, 0)
        guard count > 0 else { return false }
        bytes += part[..<count]
        return true
    }
}
