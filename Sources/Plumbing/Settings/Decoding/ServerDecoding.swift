// SPDX-License-Identifier: Apache-2.0
import NativeSystem

extension ServerSettings {
    init(_ given: SectionReader) {
        var section = given
        defer { section.finish() }
        listen = section.listenAddress("listen") ?? ListenAddress(host: "127.0.0.1", port: 8080)
        adminListen = section.listenAddress("admin_listen") ?? ListenAddress(host: "127.0.0.1", port: 9090)
        adminHosts = section.texts("admin_hosts", Self.hostProblem) ?? ["localhost", "127.0.0.1"]
        tls = section.optionalSection("tls").map(TLSSettings.init)
        publicURL = section.publicURL("public_url") ?? "\(tls == nil ? "http" : "https")://\(listen)"
        let proxies = section.texts("trusted_proxies") {
            IPNetwork($0) == nil ? "is no network; write 10.0.0.0/8 or fd00::/8" : nil
        }
        trustedProxies = (proxies ?? []).compactMap(IPNetwork.init)
        limits = ServerLimits(section.section("limits"))
        shutdownGrace = section.duration("shutdown_grace") ?? .seconds(75)
        checkListeners(section)
    }

    private func checkListeners(_ section: SectionReader) {
        if listen == adminListen, listen.port != 0 {
            section.fail("admin_listen", "is the same address as listen; give it another port")
        }
        if WebAddress("http://\(adminListen)")?.isLoopback == false {
            section.context.warn(
                section.path.appending(.key("admin_listen")), section.place(of: "admin_listen"),
                "the admin listener can be reached from other machines; metrics and health are open to all of them")
        }
    }

    private static func hostProblem(_ host: String) -> String? {
        let authority = WebAddress.isIPv6(host) ? "[\(host)]" : host
        guard let address = WebAddress("http://\(authority)/"), address.port == nil, !address.hasUser,
            address.target == "/"
        else { return "is no host name; write it without port and brackets" }
        return nil
    }
}

extension TLSSettings {
    fileprivate init(_ given: SectionReader) {
        var section = given
        defer { section.finish() }
        certificate = section.context.resolve(section.requiredText("certificate"))
        privateKey = section.context.resolve(section.requiredText("private_key"))
    }
}

extension ServerLimits {
    fileprivate init(_ given: SectionReader) {
        var section = given
        defer { section.finish() }
        body = section.size("body", in: 1024...(1 << 20)) ?? 64 << 10
        headers = section.size("headers", in: 1024...(1 << 20)) ?? 16 << 10
        connections = section.integer("connections", in: 1...1_000_000) ?? 10_000
        headTimeout = section.duration("head_timeout") ?? .seconds(10)
        bodyTimeout = section.duration("body_timeout") ?? .seconds(20)
        idleTimeout = section.duration("idle_timeout") ?? .seconds(30)
        requestsPerCaller = section.rate("requests_per_caller") ?? Rate(count: 1000, period: .seconds(1))
        exchangesPerSubject = section.rate("exchanges_per_subject") ?? Rate(count: 10, period: .seconds(600))
        failedLoginsPerAddress = section.rate("failed_logins_per_address") ?? Rate(count: 20, period: .seconds(60))
    }
}

extension SectionReader {
    fileprivate mutating func listenAddress(_ key: String) -> ListenAddress? {
        value(
            key, "is no address to listen on; write 127.0.0.1:8080 or \"[::1]:8080\" (quoted)",
            ScalarForms.listenAddress)
    }

    /// http or https, without path, query and a slash at the end.
    fileprivate mutating func publicURL(_ key: String) -> String? {
        value(key, "is no address of a gateway; write https://host, without path, user or query") { text in
            guard let address = WebAddress(text), !address.hasUser, ["http", "https"].contains(address.scheme) else {
                return nil
            }
            guard address.target.isEmpty || address.target == "/" else { return nil }
            return address.target.isEmpty ? text : String(text.dropLast())
        }
    }
}
