// SPDX-License-Identifier: Apache-2.0

/// Where an issuer's metadata are looked for, first to last.
///
/// OpenID Connect Discovery, section 4, puts its path behind the issuer's; RFC 8414, section 3.1, between host and path.
package func discoveryAddresses(of issuer: String) -> [String] {
    let bare = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
    // scheme, nothing, host, path…
    let parts = bare.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count >= 3, parts[1].isEmpty, !parts[2].isEmpty else { return [] }
    let host = parts[2]
    let origin = bare[..<host.endIndex]
    return [
        "\(bare)/.well-known/openid-configuration",
        "\(origin)/.well-known/oauth-authorization-server\(bare[host.endIndex...])",
    ]
}

/// Whether the configured issuer may be the discovered one: the same, but for one slash at the end.
package func isIssuer(_ configured: String, _ discovered: String) -> Bool {
    configured.isSame(as: discovered) || (configured + "/").isSame(as: discovered)
        || configured.isSame(as: discovered + "/")
}
