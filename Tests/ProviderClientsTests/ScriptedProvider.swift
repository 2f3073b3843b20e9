// SPDX-License-Identifier: Apache-2.0
import Glibc
import NativeSystem
import TestSupport

/// A provider on a free loopback port that keeps what it was sent, byte for byte, and answers from a script.
final class ScriptedProvider: Sendable {
    /// What is done once a whole request has been read.
    enum Reaction: Sendable {
        /// Sent as it is; the connection stays open.
        case answer(String)
        /// Sent as it is, then the connection is closed.
        case answerAndClose(String)
        /// Nothing is sent until the client closes.
        case silence
    }

    let port: UInt16
    private let listener: Int32
    private let script: [Reaction]
    private let seen = Locked<[String]>([])

    init(_ script: [Reaction]) {
        self.script = script
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = listener
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = bind(descriptor, $0, size)
                _ = getsockname(descriptor, $0, &size)
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        listen(listener, 16)
    }

    /// Every whole request so far: head and body.
    var requests: [String] { seen.withLock { $0 } }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// Serves one connection after another on a thread of its own while `body` runs.
    func serving<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        async let served: Void = onOwnThread { [self] in
            while let connection = acceptOne() { serve(connection) }
        }
        do {
            let value = try await body()
            stop()
            try await served
            return value
        } catch {
            stop()
            throw error
        }
    }

    private func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

    private func acceptOne() -> Int32? {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else {
            close(listener)
            return nil
        }
        var patience = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        return connection
    }

    private func serve(_ connection: Int32) {
        defer { close(connection) }
        while let request = readRequest(connection) {
            Canary.passed(Array(request.utf8), in: #fileID)
            let number = seen.withLock { seen in
                seen.append(request)
                return seen.count - 1
            }
            guard number < script.count else { return }
            switch script[number] {
            case .answer(let text): write(text, to: connection)
            case .answerAndClose(let text): return write(text, to: connection)
            case .silence: break
            }
        }
    }

    /// A request with `Content-Length` or without a body; nil once the client has closed.
    private func readRequest(_ connection: Int32) -> String? {
        var text = ""
        while !text.hasSuffix("\r\n\r\n") {
            guard let byte = read(connection, 1) else { return nil }
            text += byte
        }
        let field = text.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length: ") }
        var left = field.flatMap { Int($0.dropFirst(16)) } ?? 0
        while left > 0 {
            guard let piece = read(connection, left) else { return nil }
            text += piece
            left -= piece.utf8.count
        }
        return text
    }

    private func read(_ connection: Int32, _ count: Int) -> String? {
        var buffer = [UInt8](repeating: 0, count: count)
        let got = recv(connection, &buffer, count, 0)
        return got > 0 ? String(decoding: buffer.prefix(got), as: UTF8.self) : nil
    }

    private func write(_ text: String, to connection: Int32) {
        let bytes = Array(text.utf8)
        Canary.passed(bytes, in: #fileID)
        _ = bytes.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }
}

extension ScriptedProvider.Reaction {
    /// A JSON answer whose connection stays open.
    static func json(_ status: String, _ body: String, _ field: String = "X-Nothing: 1") -> Self {
        .answer(
            "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\n\(field)\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }
}
