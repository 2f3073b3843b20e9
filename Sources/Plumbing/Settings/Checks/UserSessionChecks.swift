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
        var isSameIssuer = provider.issuer.map { bare($0) == bare(entry.issuer) } ?? false
        if case .uri(let uri) = entry.keys, uri == provider.endpoints.jwks { isSameIssuer = true }
        return isSameIssuer && ([provider.client.id] + provider.trustedAudiences).contains(entry.audience)
    }

    /// Providers differ from their own metadata in a slash at the end.
    private static func bare(_ issuer: String) -> Substring { issuer.hasSuffix("/") ? issuer.dropLast() : issuer[...] }

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
