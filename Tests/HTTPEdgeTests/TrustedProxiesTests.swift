// SPDX-License-Identifier: Apache-2.0
import NativeHTTPServer
import NativeSystem
import Testing

@testable import HTTPEdge

@Suite("Whom a trusted proxy speaks for")
struct TrustedProxiesTests {
    private let networks = ["10.0.0.0/8", "fd00::/8"].compactMap(IPNetwork.init)

    private func peer(from connection: String, _ forwarded: [String]) throws -> String? {
        let address = try #require(IPAddress(connection))
        let head = HTTPRequestHead(
            method: "GET", rawPath: Array("/".utf8),
            headers: HTTPHeaders(forwarded.map { ("x-forwarded-for", $0) }),
            peer: PeerAddress(text: connection, bytes: address.bytes, port: 1), receivedAt: .now())
        return TrustedProxies(networks).peer(of: head)?.text
    }

    @Test(
        "the right-most address that is no trusted proxy's is the peer",
        arguments: [
            (["192.0.2.1"], "192.0.2.1"), (["203.0.113.9, 192.0.2.1"], "192.0.2.1"),
            (["203.0.113.9,192.0.2.1,10.1.1.1 ,\tfd00::2"], "192.0.2.1"), (["203.0.113.9", "192.0.2.1"], "192.0.2.1"),
            (["203.0.113.9, 192.0.2.1", "10.1.1.1", "10.2.2.2"], "192.0.2.1"), (["2001:db8::7"], "2001:db8::7"),
            (["::ffff:192.0.2.1, ::ffff:10.1.1.1"], "192.0.2.1"), (["192.0.2.1:4711"], "192.0.2.1"),
            (["[2001:db8::7]:4711, [fd00::2]"], "2001:db8::7"),
        ])
    func walk(lines: [String], expected: String) throws {
        #expect(try peer(from: "10.0.0.1", lines) == expected)
    }

    @Test("where all are trusted the first of them is the peer")
    func allTrusted() throws {
        #expect(try peer(from: "10.0.0.1", []) == "10.0.0.1")
        #expect(try peer(from: "10.0.0.1", ["10.3.3.3, 10.2.2.2"]) == "10.3.3.3")
    }

    @Test(
        "an entry that is no address ends the walk at the last good one",
        arguments: [
            ("192.0.2.1, unknown", "10.0.0.1"), ("192.0.2.1, unknown, 10.2.2.2", "10.2.2.2"),
            ("192.0.2.1,", "10.0.0.1"), ("192.0.2.1,,10.2.2.2", "10.2.2.2"), ("", "10.0.0.1"),
            ("192.0.2.1 10.2.2.2", "10.0.0.1"), ("192.0.2.1:port", "10.0.0.1"), ("192.0.2.1:", "10.0.0.1"),
            ("[2001:db8::7", "10.0.0.1"), ("[2001:db8::7]x", "10.0.0.1"), ("192.0.2.1:1234567", "10.0.0.1"),
            ("192.0.2.300", "10.0.0.1"),
        ])
    func malformed(line: String, expected: String) throws {
        #expect(try peer(from: "10.0.0.1", [line]) == expected)
    }

    @Test("nobody else is believed, whatever they write")
    func untrusted() throws {
        #expect(try peer(from: "198.51.100.1", ["192.0.2.1, 10.0.0.1"]) == "198.51.100.1")
        #expect(try peer(from: "fe80::1", ["192.0.2.1"]) == "fe80::1")
        let head = HTTPRequestHead(
            method: "GET", rawPath: Array("/".utf8), headers: HTTPHeaders([("X-Forwarded-For", "192.0.2.1")]),
            peer: PeerAddress(text: "10.0.0.1", bytes: [10, 0, 0, 1], port: 1), receivedAt: .now())
        #expect(TrustedProxies.none.peer(of: head)?.text == "10.0.0.1")
    }
}
