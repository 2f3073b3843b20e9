// SPDX-License-Identifier: Apache-2.0
import Glibc
import NativeSystem

/// An HTTP server on threads of its own that answers with the bytes it is told to, however wrong they are, and keeps
/// the bytes of every request that it got. For a client's tests: cut answers, lies about lengths, second sendings.
///
/// It reads a request to the end of its head and as many bytes more as `Content-Length` says. The script runs on the
/// connection's own thread and may block.
package final class ScriptedProvider: Sendable {
    package typealias Script = @Sendable (ScriptedRequest) -> ScriptedReply

    private struct State {
        var requests: [ScriptedRequest] = []
        var connections: [Int32: Int] = [:]
        var accepted = 0
        var isStopped = false
    }

    /// The port of `127.0.0.1` that it listens on.
    package let port: UInt16
    /// Every request, in the order of arrival.
    package let arrivals = Mailbox<ScriptedRequest>()
    private let listener: Int32
    private let script: Script
    private let file: String
    private let state = Locked(State())

    /// Listens on a free port of `127.0.0.1` and answers each request with what `script` says.
    /// - Parameter file: of the test, for ``Canary``.
    package init(in file: String = #fileID, _ script: @escaping Script) throws {
        self.script = script
        self.file = file
        (listener, port) = try Self.listen()
        Task.detached { [self] in try? await onOwnThread { self.acceptAll() } }
    }

    /// `http://127.0.0.1:PORT`.
    package var url: String { "http://127.0.0.1:\(port)" }

    /// What arrived until now.
    package var requests: [ScriptedRequest] { state.withLock { $0.requests } }

    /// How many connections were accepted until now.
    package var acceptedConnections: Int { state.withLock { $0.accepted } }

    /// Closes the listener and every connection; a second call does nothing.
    package func stop() {
        let open: [Int32] = state.withLock { state in
            defer { state.isStopped = true }
            return state.isStopped ? [] : state.connections.keys + [listener]
        }
        for descriptor in open { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }

    private static func listen() throws -> (Int32, UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw SystemCallError.last("socket") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer -> Int32 in
                guard bind(descriptor, pointer, size) == 0, Glibc.listen(descriptor, 128) == 0 else { return -1 }
                return getsockname(descriptor, pointer, &size)
            }
        }
        guard code == 0 else {
            close(descriptor)
            throw SystemCallError.last("bind")
        }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    private func acceptAll() {
        while true {
            let descriptor = accept(listener, nil, nil)
            guard descriptor >= 0 else { break }
            var yes: Int32 = 1
            setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
            let number: Int? = state.withLock { state in
                guard !state.isStopped else { return nil }
                state.accepted += 1
                state.connections[descriptor] = state.accepted
                return state.accepted
            }
            guard let number else {
                close(descriptor)
                break
            }
            Task.detached { [self] in try? await onOwnThread { self.serve(descriptor, number) } }
        }
        close(listener)
    }

    private func serve(_ descriptor: Int32, _ number: Int) {
        var stream = ScriptedStream(descriptor: descriptor)
        var isOpen = true
        while isOpen, let bytes = stream.nextRequest() {
            let request: ScriptedRequest = state.withLock { state in
                let request = ScriptedRequest(number: state.requests.count + 1, connection: number, bytes: bytes)
                state.requests.append(request)
                return request
            }
            Canary.passed(bytes, in: file)
            arrivals.post(request)
            let reply = script(request)
            Canary.passed(Array(reply.parts.joined()), in: file)
            isOpen = stream.write(reply)
        }
        state.withLock { $0.connections[descriptor] = nil }
        close(descriptor)
    }
}
