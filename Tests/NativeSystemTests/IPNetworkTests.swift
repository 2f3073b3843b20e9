// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import NativeSystem

@Suite("Networks")
struct IPNetworkTests {
    @Test(
        "a network holds the addresses that begin with its bits",
        arguments: [
            ("10.0.0.0/8", "10.255.0.1", "11.0.0.1"), ("192.168.1.128/25", "192.168.1.128", "192.168.1.127"),
            ("192.168.1.1/31", "192.168.1.0", "192.168.1.2"), ("10.1.2.3", "10.1.2.3", "10.1.2.2"),
            ("fd00::/8", "fdff::1", "fc00::1"), ("::1/128", "::1", "::2"),
            ("2001:db8::/33", "2001:db8::1", "2001:db8:8000::"),
            ("0.0.0.0/0", "255.255.255.255", "::1"), ("::/0", "2001:db8::1", "1.2.3.4"),
            ("10.0.0.0/8", "::ffff:10.1.2.3", "::10.1.2.3"), ("::ffff:10.0.0.0/104", "10.1.2.3", "11.1.2.3"),
            ("::ffff:10.1.2.3", "10.1.2.3", "10.1.2.4"),
        ])
    func membership(text: String, inside: String, outside: String) throws {
        let network = try #require(IPNetwork(text))
        #expect(network.contains(try #require(IPAddress(inside))))
        #expect(!network.contains(try #require(IPAddress(outside))))
    }

    @Test(
        "what is no network is nil",
        arguments: [
            "10.0.0.0/33", "10.0.0/8", "fd00::/129", "host/8", "10.0.0.0/", "1.2.3.4/8/8", "", "/8", "10.0.0.0/-1",
            "10.0.0.0/+8", "10.0.0.0/0008", "10.0.0.0 /8", "010.0.0.0/8", "10.0.0.1\u{0}/8", "fe80::1%eth0/64",
            "::ffff:10.0.0.0/90",
        ])
    func malformed(text: String) {
        #expect(IPNetwork(text) == nil)
    }

    @Test("an address reads as it is written", arguments: ["127.0.0.1", "::1", "2001:db8::1", "255.255.255.255"])
    func text(text: String) throws {
        #expect(try #require(IPAddress(text)).text == text)
    }

    @Test("IPv4 inside IPv6 is the IPv4 address, and other numbers of bytes are no address")
    func bytes() {
        #expect(IPAddress("::ffff:10.0.0.1")?.text == "10.0.0.1")
        #expect(IPAddress(bytes: [10, 0, 0, 1])?.text == "10.0.0.1")
        #expect(IPAddress(bytes: []) == nil)
        #expect(IPAddress(bytes: [1, 2, 3, 4, 5]) == nil)
    }
}
