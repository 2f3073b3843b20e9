// SPDX-License-Identifier: Apache-2.0
import NativeSystem
import Testing

@testable import NativeCurl

@Suite("Addresses and proxies")
struct ConfigurationTests {
    @Test("public addresses are told from those that are not")
    func publicAddresses() throws {
        for text in ["8.8.8.8", "172.32.0.1", "192.0.1.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1"] {
            #expect(try #require(IPAddress(text)).isPublic, "\(text)")
        }
        for text in [
            "0.1.2.3", "10.0.0.1", "127.0.0.1", "100.64.0.1", "169.254.1.1", "172.16.0.1", "172.31.255.255",
            "192.168.1.1",
            "192.0.2.1", "198.18.0.1", "224.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fc00::1", "fd12::1",
            "ff02::1",
            "2001:db8::1", "2002:0a00:0001::1", "::ffff:10.0.0.1", "64:ff9b::10.0.0.1", "3fff::1", "2001::1",
        ] {
            #expect(try !#require(IPAddress(text)).isPublic, "\(text)")
        }
        #expect(IPAddress("localhost") == nil && IPAddress("1.2.3") == nil && IPAddress("[::1]") == nil)
    }

    @Test(
        "a proxy is shown without its name and password, and where it is the way to a URL",
        arguments: [
            ("http://user:hunter2@p.example:3128", "http://p.example:3128"),
            ("p.example:3128", "http://p.example:3128"), ("http://user:hunter2@p.example", "http://p.example:1080"),
            ("https://u@p.example", "https://p.example:443"),
            ("socks5h://u:hunter2@[fd00::1]:9", "socks5h://[fd00::1]:9"),
            ("http://hunter2 x", "a proxy whose address is no URL"),
        ])
    func shown(proxy: String, text: String) {
        let configuration = CurlConfiguration(proxy: proxy, noProxy: ["direct.example", "port.example:8443"])
        #expect(configuration.proxyShown(for: "https://provider.example/token?x=1") == text)
        #expect(configuration.proxyShown(for: "https://port.example/token") == text)
        for url in [
            "https://direct.example/token", "https://port.example:8443/token", "http://127.0.0.1:1/token", "nothing",
        ] { #expect(configuration.proxyShown(for: url) == nil, "\(url)") }
        #expect(CurlConfiguration().proxyShown(for: "https://provider.example/token") == nil)
    }

    @Test("hosts that need no proxy are named by themselves, by a domain above them, or all at once")
    func noProxy() {
        let configuration = CurlConfiguration(proxy: "http://p:1", noProxy: [".example.com", "Other.test", "10.0.0.1"])
        for host in ["example.com", "a.example.com", "other.test", "b.other.test", "10.0.0.1"] {
            #expect(configuration.proxy(for: host, port: "443") == nil, "\(host)")
        }
        for host in ["badexample.com", "test", "10.0.0.11"] {
            #expect(configuration.proxy(for: host, port: "443") == "http://p:1", "\(host)")
        }
        let networks = CurlConfiguration(proxy: "http://p:1", noProxy: ["10.0.0.0/8", "192.168.1.128/25", "fd00::/8"])
        for host in ["10.1.2.3", "192.168.1.200", "[fd12::1]"] {
            #expect(networks.proxy(for: host, port: "443") == nil, "\(host)")
        }
        for host in ["11.0.0.1", "192.168.1.1", "[fe80::1]", "10.example.com"] {
            #expect(networks.proxy(for: host, port: "443") == "http://p:1", "\(host)")
        }
        let ports = CurlConfiguration(proxy: "http://p:1", noProxy: [".corp:8443", "10.0.0.1:8443", "[fd00::1]:8443"])
        for host in ["a.corp", "corp", "10.0.0.1", "[fd00::1]"] {
            #expect(ports.proxy(for: host, port: "8443") == nil, "\(host)")
            #expect(ports.proxy(for: host, port: "443") == "http://p:1", "\(host)")
        }
        let addresses = CurlConfiguration(proxy: "http://p:1", noProxy: ["fd00::1", "[fd00::2]"])
        for host in ["[fd00::1]", "[fd00::2]"] { #expect(addresses.proxy(for: host, port: "443") == nil, "\(host)") }
        #expect(CurlConfiguration(proxy: "http://p:1", noProxy: ["*"]).proxy(for: "a", port: "443") == nil)
        #expect(CurlConfiguration(proxy: "", noProxy: []).proxy(for: "a", port: "443") == nil)
    }
}
