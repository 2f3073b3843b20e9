// SPDX-License-Identifier: Apache-2.0

/// What must hold for `auth.jwt`, so that nobody passes for somebody else (contract, section 1).
enum UserSessionChecks {
    static func run(on settings: GatewaySettings, _ context: ReadingContext) {
        for (index, entry) in settings.auth.jwt.enumerated() {
            if let provider = settings.providers.first(where: { issues($0, tokensFor: entry) }) {
                context.fail(
                    path(index, "audience"), place(index, "audience", context),
                    "issuer and audience are also those of the provider \(provider.name): its ID tokens would be "
                        + "sessions; have your own issuer name another audience")
            }
            for (other, earlier) in settings.auth.jwt[..<index].enumerated() {
                refuse(entry, at: index, beside: earlier, at: other, context)
            }
        }
    }

    /// Whether a token that the provider issues, such as an ID token, could be one of that entry.
    private static func issues(_ provider: ProviderSettings, tokensFor entry: JWTSettings) -> Bool {
        guard ([provider.client.id] + provider.trustedAudiences).contains(entry.audience) else { return false }
        let ends = provider.endpoints
        let places = [provider.issuer, ends.token, ends.authorization, ends.userinfo, ends.jwks].compactMap { $0 }
        var issuers = [entry.issuer]
        if case .uri(let uri) = entry.keys { issuers.append(uri) }
        let sites = Set(places.map { site(of: $0) })
        return issuers.contains { sites.contains(site(of: $0)) }
    }

    /// Whose a URL is, told by the last two labels of its host: a provider's issuer is often another host than those of
    /// its endpoints (PayPal), or no URL (Google).
    private static func site(of url: String) -> String {
        let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.hasPrefix("[") else { return authority.lowercased() }
        let labels = authority.prefix { $0 != ":" }.lowercased().split(separator: ".")
        let isAddress = labels.last?.allSatisfy(\.isNumber) ?? false
        return isAddress ? authority.lowercased() : labels.suffix(2).joined(separator: ".")
    }

    private static func refuse(
        _ entry: JWTSettings, at index: Int, beside earlier: JWTSettings, at other: Int, _ context: ReadingContext
    ) {
        if entry.issuer == earlier.issuer, entry.audience == earlier.audience {
            context.fail(
                path(index, "audience"), place(index, "audience", context),
                "issuer and audience are those of jwt[\(other)] already")
        }
        // One issuer's users are the same people for each of its audiences.
        if entry.issuer == earlier.issuer, entry.subjectClaim == earlier.subjectClaim,
            entry.subjectPrefix == earlier.subjectPrefix
        {
            return
        }
        guard let one = entry.subjectPrefix, let two = earlier.subjectPrefix else { return }
        if one.utf8.starts(with: two.utf8) || two.utf8.starts(with: one.utf8) {
            context.fail(
                path(index, "subject_prefix"), place(index, "subject_prefix", context),
                "begins like that of jwt[\(other)], or the other way round: two users could be one")
        }
    }

    private static func path(_ index: Int, _ key: String) -> SettingPath {
        SettingPath(steps: [.key("auth"), .key("jwt"), .index(index), .key(key)])
    }

    private static func place(_ index: Int, _ key: String, _ context: ReadingContext) -> SettingPlace {
        context.place(of: path(index, key)) ?? .file
    }
}
