// SPDX-License-Identifier: Apache-2.0
import Glibc
import NativeSystem

/// One request as it arrived, byte for byte.
struct SeenRequest: Sendable, Equatable {
    let head: String
    let body: [UInt8]
    let connection: Int

    var target: String { String(head.split(separator: " ")[1]) }
}

/// One accepted connection, on a thread of its own; closed when its script returns.
final class Peer: Sendable {
    let number: Int
    private let descriptor: Int32
    private let seen: Locked<[SeenRequest]>

    init(number: Int, descriptor: Int32, seen: Locked<[SeenRequest]>) {
        self.number = number
        self.descriptor = descriptor
        self.seen = seen
    }

    /// A whole request with `Content-Length` or without a body; nil once the client has closed.
    func readRequest() -> SeenRequest? {
        var bytes: [UInt8] = []
        while !bytes.ends(with: [13, 10, 13, 10]) {
            guard let byte = read(1), !byte.isEmpty else { return nil }
            bytes += byte
        }
        let head = String(decoding: bytes, as: UTF8.self)
        let length =
            head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
            .flatMap { Int($0.drop { $0 != ":" }.dropFirst().drop { $0 == " " }) } ?? 0
        var body: [UInt8] = []
        while body.count < length {
            guard let piece = read(length - body.count), !piece.isEmpty else { return nil }
            body += piece
        }
        let request = SeenRequest(head: head, body: body, connection: number)
        seen.withLock { $0.append(request) }
        return request
    }

    func read(_ count: Int) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: count)
        let got = recv(descriptor, &buffer, count, 0)
        return got < 0 ? nil : Array(buffer.prefix(got))
    }

    /// False once the client no longer takes it.
    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }

    @discardableResult
    func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    /// Passes bytes on in both directions between the client and a loopback port until both have said all.
    func tunnel(to port: Int) {
        let upstream = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(upstream) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(upstream, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { return }
        let back = startThread { [descriptor] in Peer.pass(from: upstream, to: descriptor) }
        Peer.pass(from: descriptor, to: upstream)
        pthread_join(back, nil)
    }

    private static func pass(from source: Int32, to target: Int32) {
        var buffer = [UInt8](repeating: 0, count: 16384)
        while true {
            let got = recv(source, &buffer, buffer.count, 0)
            guard got > 0, send(target, buffer, got, Int32(MSG_NOSIGNAL)) == got else { break }
        }
        shutdown(target, Int32(SHUT_WR))
    }

    /// Makes the close at the end a reset.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    }
}

extension Array where Element == UInt8 {
    func ends(with end: [UInt8]) -> Bool { count >= end.count && suffix(end.count).elementsEqual(end) }
}

/// A server on a free loopback port that plays a script with each connection and keeps what it saw.
final class ScriptedServer: Sendable {
    let port: UInt16
    private let listener: Int32
    private let seen = Locked<[SeenRequest]>([])
    private let thread: Locked<pthread_t?>
    private let script: @Sendable (Peer) -> Void

    init(_ script: @escaping @Sendable (Peer) -> Void) {
        self.script = script
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = bind(listener, $0, size)
                _ = getsockname(listener, $0, &size)
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        listen(listener, 4096)
        thread = Locked(nil)
        let started = startThread { [self] in acceptAll() }
        thread.withLock { $0 = started }
    }

    var requests: [SeenRequest] { seen.withLock { $0 } }

    func url(_ path: String, scheme: String = "http", host: String = "127.0.0.1") -> String {
        "\(scheme)://\(host):\(port)\(path)"
    }

    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        if let thread = thread.withLock({ $0 }) { pthread_join(thread, nil) }
        close(listener)
    }

    private func acceptAll() {
        var number = 0
        while true {
            let descriptor = accept(listener, nil, nil)
            guard descriptor >= 0 else { return }
            var patience = timeval(tv_sec: 20, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
            setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
            let peer = Peer(number: number, descriptor: descriptor, seen: seen)
            number += 1
            let thread = startThread { [script] in
                script(peer)
                close(descriptor)
            }
            pthread_detach(thread)
        }
    }
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

func startThread(_ body: @escaping @Sendable () -> Void) -> pthread_t {
    var thread = pthread_t()
    let box = Unmanaged.passRetained(ThreadBody(body)).toOpaque()
    let code = pthread_create(
        &thread, nil,
        { context in
            Unmanaged<ThreadBody>.fromOpaque(context!).takeRetainedValue().run()
            return nil
        }, box)
    precondition(code == 0, "no thread for a test's server")
    return thread
}

/// Something that happens once.
final class Event: Sendable {
    private enum State: Sendable {
        case awaited([CheckedContinuation<Void, Never>])
        case happened
    }

    private let state = Locked(State.awaited([]))

    func signal() {
        let waiting: [CheckedContinuation<Void, Never>] = state.withLock { state in
            defer { state = .happened }
            if case .awaited(let waiting) = state { return waiting }
            return []
        }
        for continuation in waiting { continuation.resume() }
    }

    /// For tests; a suite's time limit is its deadline.
    func happens() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                guard case .awaited(let waiting) = state else { return true }
                state = .awaited(waiting + [continuation])
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    /// For threads of their own: blocks for ten seconds at most.
    func wait() {
        let deadline = MonotonicInstant.now().advanced(by: .seconds(10))
        while MonotonicInstant.now() < deadline {
            if state.withLock({ if case .happened = $0 { true } else { false } }) { return }
            usleep(200)
        }
    }
}
