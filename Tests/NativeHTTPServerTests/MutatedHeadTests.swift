// SPDX-License-Identifier: Apache-2.0
import NativeHTTPServer
import NativeSystem
import TestSupport
import Testing

@Suite("Heads with something wrong somewhere")
struct MutatedHeadTests {
    static let heads = [
        "GET /a?b HTTP/1.1\r\nHost: a\r\nX-One: b c\r\nAccept: */*\r\nConnection: close\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
    ]
    static let insertions = [
        "\0", "\0\0", "\r", "\n", "\r\n", " ", "\t", ":", "\r\n ", "\n\n", "a", "\u{7F}", "\r\nHost: b", "\0Host\0 b",
        "\r\nContent-Length: 4", "\r\nTransfer-Encoding: chunked", "\r\n\0", "\0\r\n", "?", "#", "%00",
    ]

    @Test("only a head whose every line is whole reaches the handler, however a valid one was changed")
    func mutations() async throws {
        let seen = Mailbox<HTTPRequestHead>()
        let handler = ScriptedHandler(admission: { head in
            seen.post(head)
            return nil
        }) { _ in HTTPResponse(status: 200, closesConnection: true) }
        let limits = TimeoutTests.limits(
            head: .milliseconds(100), body: .milliseconds(100), idle: .milliseconds(100))
        var random = SplitMix(state: 7)
        try await RunningServer.use(limits: limits, handler: handler) { running in
            for _ in 0..<400 {
                let sent = MutatedHeadTests.mutate(&random)
                guard !MutatedHeadTests.isInvisible(sent) else { continue }
                let connection = try running.connect()
                try connection.send(sent)
                connection.finishSending()
                _ = try await connection.readToEnd()
                guard !seen.isEmpty else { continue }
                let head = try await seen.next()
                #expect(
                    seen.isEmpty, "one head, one request: \(String(decoding: sent, as: UTF8.self).debugDescription)")
                MutatedHeadTests.check(head, against: sent)
            }
        }
    }

    /// A valid head with one to three changes.
    private static func mutate(_ random: inout SplitMix) -> [UInt8] {
        var bytes = Array(heads[Int.random(in: 0..<heads.count, using: &random)].utf8)
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            let text = Array(insertions[Int.random(in: 0..<insertions.count, using: &random)].utf8)
            let removed = Bool.random(using: &random) ? 0 : 1
            bytes.replaceSubrange(place..<min(bytes.count, place + removed), with: text)
        }
        return bytes
    }

    /// Whether it holds what looks like CR LF in the parser's buffer: a NUL before a line end, a colon before a bare LF
    /// (see HeadReader).
    private static func isInvisible(_ sent: [UInt8]) -> Bool {
        zip(sent, sent.dropFirst()).contains { one, next in
            (one == 0 && (next == 0x0A || next == 0x0D)) || (one == 0x3A && next == 0x0A)
        }
    }

    /// Reads what was sent the plain way, and compares.
    private static func check(_ head: HTTPRequestHead, against sent: [UInt8]) {
        let start = sent.firstIndex { $0 != 0x0D && $0 != 0x0A } ?? 0
        var lines: [[UInt8]] = [[]]
        var index = start
        while index < sent.count {
            if sent[index] == 0x0D, index + 1 < sent.count, sent[index + 1] == 0x0A {
                if lines[lines.count - 1].isEmpty { break }
                lines.append([])
                index += 2
            } else {
                lines[lines.count - 1].append(sent[index])
                index += 1
            }
        }
        let text = String(decoding: sent, as: UTF8.self).debugDescription
        #expect(lines.allSatisfy { $0.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 } }, "\(text)")
        #expect(lines.count - 2 == head.headers.count, "\(text)")
        #expect(head.headers.count(of: "host") == 1 && head.headers.count(of: "content-length") <= 1, "\(text)")
        let target = head.rawPath + (head.rawQuery.map { [0x3F] + $0 } ?? [])
        #expect(
            lines[0] == Array(head.method.utf8) + [0x20] + target + Array(" HTTP/1.1".utf8)
                || lines[0] == Array(head.method.utf8) + [0x20] + target + Array(" HTTP/1.0".utf8), "\(text)")
    }
}

/// A generator that gives the same numbers each time.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
