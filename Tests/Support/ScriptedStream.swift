// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The bytes of one accepted connection: requests out of them, replies into them.
struct ScriptedStream {
    let descriptor: Int32
    private var buffered: [UInt8] = []

    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// The index after the blank line.
    static func endOfHead(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= 4 else { return nil }
        return (4...bytes.count).first { bytes[($0 - 4)..<$0].elementsEqual([13, 10, 13, 10]) }
    }

    /// The next request whole; nil when the client has left.
    mutating func nextRequest() -> [UInt8]? {
        while true {
            if let end = Self.endOfHead(buffered) {
                let size = end + Self.contentLength(buffered[..<end])
                if buffered.count >= size {
                    defer { buffered.removeFirst(size) }
                    return Array(buffered[..<size])
                }
            }
            guard receive() else { return nil }
        }
    }

    private static func contentLength(_ head: ArraySlice<UInt8>) -> Int {
        for line in String(decoding: head, as: UTF8.self).lowercased().split(separator: "\r\n")
        where line.hasPrefix("content-length:") {
            return Int(line.dropFirst(15).filter { $0 != " " }) ?? 0
        }
        return 0
    }

    private mutating func receive() -> Bool {
        var part = [UInt8](repeating: 0, count: 16_384)
        let count = recv(descriptor, &part, part.count, 0)
        guard count > 0 else { return false }
        buffered += part[..<count]
        return true
    }

    /// Whether the connection may carry another request.
    mutating func write(_ reply: ScriptedReply) -> Bool {
        for part in reply.parts {
            guard send(part) else { return false }
        }
        switch reply.end {
        case .keepOpen: return true
        case .close: return false
        case .reset:
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
            return false
        case .hold:
            while receive() { buffered = [] }
            return false
        }
    }

    private func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }
}
