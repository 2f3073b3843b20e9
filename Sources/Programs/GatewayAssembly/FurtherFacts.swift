// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import NativeCurl
import Settings

extension ProviderSettings {
    /// An endpoint as `provider show` tells it, which asks nobody where it is.
    func place(_ name: String, _ endpoint: String?) -> ProviderSheet.Fact {
        guard endpoint == nil, usesDiscovery else { return ProviderSheet.Fact(name, endpoint) }
        return ProviderSheet.Fact(name, elsewhere: "by discovery; `check` asks the issuer and tells it")
    }

    /// What `provider show` tells of a provider where it is set.
    var furtherFacts: [ProviderSheet.Fact] {
        let connection = connection
        let facts: [(name: String, value: String?)] = [
            ("rate_limit", rateLimit.map(rateText)), ("profile.max_age", durationText(profileMaxAge)),
            ("on_shared_subject", onSharedSubject?.rawValue), ("redirect_uris", listText(redirectURIs)),
            ("trusted_audiences", listText(trustedAudiences)), ("allow_hosts", listText(connection.allowHosts)),
            ("http2", connection.http2 ? "true" : nil), ("ca_file", connection.caFile),
            ("proxy", connection.proxy.map(proxyText)),
            ("no_proxy", connection.proxy == nil ? nil : listText(connection.noProxy)),
        ]
        return facts.filter { $0.value != nil }.map { ProviderSheet.Fact($0.name, $0.value) }
    }
}

private func listText(_ texts: [String]) -> String? { texts.isEmpty ? nil : texts.joined(separator: " ") }

/// As the configuration writes it: `50/s`, `10/10m`.
private func rateText(_ rate: Rate) -> String {
    "\(rate.count)/" + (rate.period == .seconds(1) ? "s" : durationText(rate.period))
}

/// Scheme, host and port, never a user or password; of one that is kept elsewhere and was not read, where.
private func proxyText(_ proxy: SettingsSecret) -> String {
    let text = proxy.reveal()
    let address = text.isEmpty ? nil : CurlConfiguration.withoutUser(text)
    let place: String? =
        switch proxy.source {
        case .literal: nil
        case .environment(let name): "from \(name)"
        case .file(let path): "from \(path)"
        case .command(let arguments): "from the command \(arguments.first ?? "")"
        }
    return switch (address, place) {
    case (let address?, let place?): "\(address) (\(place))"
    case (let address?, nil): address
    case (nil, let place): (place ?? "") + ", not read here"
    }
}
