// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Settings

@Suite("How single values are written")
struct FormTests {
    @Test(
        "durations are a whole number and a unit",
        arguments: [
            ("500ms", Duration.milliseconds(500)), ("30s", .seconds(30)), ("15m", .seconds(900)),
            ("12h", .seconds(43200)), ("30d", .seconds(30 * 86400)), ("6y", .seconds(6 * 365 * 86400)), ("0s", .zero),
        ])
    func durations(text: String, expected: Duration) {
        #expect(ScalarForms.duration(text) == expected)
    }

    @Test(
        "what is no duration is none",
        arguments: ["", "30", "s", "-1s", "+1s", "1.5h", "1 s", "1S", "1h30m", "101y", "9999999999999999s", "٣s", "1w"])
    func noDurations(text: String) {
        #expect(ScalarForms.duration(text) == nil)
    }

    @Test("sizes are bytes, or binary multiples")
    func sizes() {
        let texts = ["64KiB", "1MiB", "2GiB", "512B", "7", "64kB", "1.5MiB", "", "KiB", "999999999999999GiB"]
        #expect(texts.map(ScalarForms.size) == [65536, 1 << 20, 2 << 30, 512, 7, nil, nil, nil, nil, nil])
    }

    @Test("rates are how many in how long")
    func rates() {
        #expect(ScalarForms.rate("50/s") == Rate(count: 50, period: .seconds(1)))
        #expect(ScalarForms.rate("10/10m") == Rate(count: 10, period: .seconds(600)))
        for text in ["", "50", "/s", "0/s", "50/", "50/0s", "50/s/s", "-1/s"] { #expect(ScalarForms.rate(text) == nil) }
    }

    @Test("addresses to listen on are numeric, with a port")
    func listening() {
        #expect(ScalarForms.listenAddress("[::1]:8080") == ListenAddress(host: "::1", port: 8080))
        #expect(ScalarForms.listenAddress("0.0.0.0:0") == ListenAddress(host: "0.0.0.0", port: 0))
        #expect(ListenAddress(host: "::1", port: 80).description == "[::1]:80")
        for text in [
            "", ":80", "::1:80", "[::1]", "host:80", "1.2.3:80", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1",
        ] {
            #expect(ScalarForms.listenAddress(text) == nil, "\(text)")
        }
    }

    @Test("only this machine may be called in the clear")
    func endpoints() {
        let allowed = [
            "https://a.example", "https://a.example:8443/x?y=z", "http://localhost:1/", "http://127.0.0.1",
            "http://[::1]:9",
            "http://127.9.9.9/x",
        ]
        for text in allowed { #expect(SectionReader.endpointProblem(text) == nil, "\(text)") }
        let refused = [
            "http://a.example/", "http://127.0.0.1@a.example/", "http://127.0.0.1.a.example/", "http://127.1/",
            "http://0x7f.0.0.1/", "http://2130706433/", "http://localhost.a.example/", "https://a.example\\@b/",
            "ftp://a/",
            "https:///x", "https://", "a.example", "https://a b/", "https://a/#x", "https://u@a/", "https://a:0/",
            "https://a:99999/", "https://é.example/", "https://[::1/", "http://[::ffff:127.0.0.1]/", "//a/", "https:a",
            "http://[fe80::1%25lo]/", "http://010.0.0.1/", "https://.a/", "https://a:b/",
        ]
        for text in refused { #expect(SectionReader.endpointProblem(text) != nil, "\(text)") }
    }

    @Test("IPv6 addresses are told from what only looks like them")
    func ipv6() {
        for text in ["::", "::1", "fe80::1", "1:2:3:4:5:6:7:8", "1::8", "1::"] {
            #expect(WebAddress.isIPv6(text), "\(text)")
        }
        for text in ["", ":", ":::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3", "12345::", "g::", ":1::", "::1:"]
        {
            #expect(!WebAddress.isIPv6(text), "\(text)")
        }
    }

    @Test("redirects are https, this machine, or an app's own scheme")
    func redirects() {
        for text in ["https://a.example/cb", "example.shop:/cb", "urn:ietf:wg:oauth:2.0:oob", "http://127.0.0.1:9/cb"] {
            #expect(SectionReader.redirectProblem(text) == nil, "\(text)")
        }
        for text in [
            "", "/cb", "cb", "https://a.example/cb#f", "javascript:alert(1)", "http://a.example/", "1a:x", "a b:c",
        ] {
            #expect(SectionReader.redirectProblem(text) != nil, "\(text)")
        }
    }

    @Test("the nearest key is one that is like enough")
    func nearestKeys() {
        let known = ["client_id", "client_secret", "scopes", "pkce"]
        #expect(nearest(to: "client_idd", among: known) == "client_id")
        #expect(nearest(to: "Client-Secret", among: known) == "client_secret")
        #expect(nearest(to: "scpoes", among: known) == "scopes")
        #expect(nearest(to: "pcke", among: known) == "pkce")
        #expect(nearest(to: "colour", among: known) == nil)
        #expect(nearest(to: "", among: known) == nil)
        #expect(nearest(to: String(repeating: "x", count: 10_000), among: known) == nil)
    }
}
