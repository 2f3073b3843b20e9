// SPDX-License-Identifier: Apache-2.0
import Settings
import Testing

@Suite("Proxies of providers")
struct ProxyTests {
    private func connection(_ variables: [String: String], _ lines: String...) throws -> ProviderConnectionSettings {
        let text = SampleSettings.head + SampleSettings.provider + lines.map { "    \($0)\n" }.joined()
        let loaded = try SampleSettings.read(text, variables: variables)
        return try #require(loaded.settings.providers.first).connection
    }

    @Test(
        "where the file names none, the environment's is taken, in lower case first",
        arguments: [
            (["https_proxy": "http://a:1", "HTTPS_PROXY": "http://b:1", "ALL_PROXY": "http://c:1"], "http://a:1"),
            (["HTTPS_PROXY": "http://b:1", "all_proxy": "http://c:1"], "http://b:1"),
            (["all_proxy": "http://c:1", "ALL_PROXY": "http://d:1"], "http://c:1"),
            (["ALL_PROXY": "http://d:1"], "http://d:1"), (["https_proxy": "", "HTTPS_PROXY": "b:1"], "b:1"),
            (["http_proxy": "http://e:1", "HTTP_PROXY": "http://e:1"], nil), ([:], nil),
        ] as [([String: String], String?)])
    func environment(variables: [String: String], proxy: String?) throws {
        #expect(try connection(variables).proxy?.reveal() == proxy)
    }

    @Test("what the file says goes before the environment; an exception for all hosts is no proxy at all")
    func file() throws {
        let variables = ["https_proxy": "http://a:1", "no_proxy": ".corp"]
        let own = try connection(variables, "proxy: http://own.example:3128", "no_proxy: [.own, 10.0.0.0/8]")
        #expect(own.proxy?.reveal() == "http://own.example:3128" && own.noProxy == [".own", "10.0.0.0/8"])
        #expect(try connection(variables, #"no_proxy: ["*"]"#).noProxy == ["*"])
    }

    @Test(
        "exceptions are read from the environment, with commas or blanks, in lower case first",
        arguments: [
            (["no_proxy": ".corp,10.0.0.0/8, host:8443"], [".corp", "10.0.0.0/8", "host:8443"]),
            (["NO_PROXY": ".corp 10.0.0.0/8"], [".corp", "10.0.0.0/8"]), (["no_proxy": "a", "NO_PROXY": "b"], ["a"]),
            (["NO_PROXY": "*"], ["*"]), ([:], []),
        ] as [([String: String], [String])])
    func exceptions(variables: [String: String], entries: [String]) throws {
        #expect(try connection(variables).noProxy == entries)
    }
}
