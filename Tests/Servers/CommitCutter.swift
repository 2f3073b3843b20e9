// SPDX-License-Identifier: Apache-2.0
import Glibc
import NativeSystem

/// Stands between clients and a test's database, and passes everything on, until it is told to cut: then the server
/// commits, and its answer does not come.
package final class CommitCutter: Sendable {
    private struct State {
        var isArmed = false
        var cuts = 0
        var threads: [Locked<NamedThread?>] = []
        /// Of both sides.
        var open: Set<Int32> = []
    }

    /// The database by way of this.
    package let url: String
    private let listener: Int32
    private let port: UInt16
    private let state = Locked(State())

    /// - Parameter url: `postgres://…@127.0.0.1:PORT/…`, without TLS.
    package init(before url: String) throws {
        guard let colon = url.lastIndex(of: ":"), let slash = url[colon...].firstIndex(of: "/"),
            let port = UInt16(url[url.index(after: colon)..<slash])
        else { throw SystemCallError("url", code: EINVAL) }
        self.port = port
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
        let own = try loopback(listener, 0) {
            bind($0, $1, $2) == 0 && listen($0, 64) == 0 ? getsockname($0, $1, &$2) : -1
        }
        self.url = url[...colon] + "\(own)" + url[slash...]
        try start { $0.acceptAll() }
    }

    deinit { close(listener) }

    /// From now on the next answer to a COMMIT ends its connection.
    package func cutNext() { state.withLock { $0.isArmed = true } }

    /// Ends every connection.
    package func cutAll() { for one in state.withLock({ $0.open }) { shutdown(one, Int32(SHUT_RDWR)) } }

    /// How many answers were kept back.
    package var cuts: Int { state.withLock { $0.cuts } }

    /// Returns once all threads have ended.
    package func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        cutAll()
        while let thread = state.withLock({ $0.threads.popLast() }) {
            thread.withLock { $0.take() }?.join()
            cutAll()
        }
    }

    private func start(_ body: @escaping @Sendable (CommitCutter) -> Void) throws {
        let thread = Locked<NamedThread?>(try NamedThread(name: "commit-cutter") { [self] in body(self) })
        state.withLock { $0.threads.append(thread) }
    }

    private func acceptAll() {
        while case let client = accept(listener, nil, nil), client >= 0 {
            let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
            guard (try? loopback(server, port, { connect($0, $1, $2) })) != nil else {
                close(client)
                close(server)
                continue
            }
            var yes: Int32 = 1
            for one in [client, server] {
                setsockopt(one, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
            }
            state.withLock { $0.open.formUnion([client, server]) }
            try? start { $0.pass(client, server) }
        }
    }

    private func pass(_ client: Int32, _ server: Int32) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        relay: while true {
            var entries = [client, server].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&entries, 2, -1) > 0 || errno == EINTR else { break }
            for (number, entry) in entries.enumerated() where entry.revents != 0 {
                let count = recv(entry.fd, &buffer, buffer.count, 0)
                guard count > 0 else { break relay }
                if number == 1, keepsBack(buffer[..<count]) { break relay }
                let other = number == 0 ? server : client
                if send(other, buffer, count, Int32(MSG_NOSIGNAL)) != count { break relay }
            }
        }
        state.withLock { $0.open.subtract([client, server]) }
        close(client)
        close(server)
    }

    /// What the server answers to a COMMIT: CommandComplete, its length, its words (postgresql.org/docs/15,
    /// protocol-message-formats).
    private static let committed: [UInt8] = [0x43, 0, 0, 0, 11] + Array("COMMIT\0".utf8)

    private func keepsBack(_ answer: ArraySlice<UInt8>) -> Bool {
        let length = CommitCutter.committed.count
        let isCommit = answer.indices.dropLast(length - 1).contains {
            answer[$0] == 0x43 && answer[$0..<($0 + length)].elementsEqual(CommitCutter.committed)
        }
        guard isCommit else { return false }
        return state.withLock { state in
            guard state.isArmed else { return false }
            state.isArmed = false
            state.cuts += 1
            return true
        }
    }
}

/// Does something to a socket with the loopback address.
/// - Returns: the port that the address has afterwards.
@discardableResult
private func loopback(
    _ socket: Int32, _ port: UInt16, _ use: (Int32, UnsafeMutablePointer<sockaddr>, inout socklen_t) -> Int32
) throws -> UInt16 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { use(socket, $0, &size) }
    }
    guard code == 0 else { throw SystemCallError.last("loopback") }
    return UInt16(bigEndian: address.sin_port)
}
