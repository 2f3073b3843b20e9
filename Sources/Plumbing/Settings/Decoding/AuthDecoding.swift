// SPDX-License-Identifier: Apache-2.0

extension AuthSettings {
    init(_ given: SectionReader) {
        var section = given
        defer { section.finish() }
        apiKeys = section.sections("api_keys").map(APIKeySettings.init)
        jwt = section.sections("jwt").map(JWTSettings.init)
        refuseDoubleNames(section)
        if jwt.count > 1, jwt.contains(where: { $0.subjectPrefix == nil }) {
            section.fail("jwt", "with more than one entry each needs a subject_prefix, so that no two users are one")
        }
    }

    private func refuseDoubleNames(_ section: SectionReader) {
        var seen: Set<String> = []
        for key in apiKeys where !key.name.isEmpty && !seen.insert(key.name).inserted {
            section.fail("api_keys", "the name \(key.name) stands here twice")
        }
    }
}

extension APIKeySettings {
    fileprivate init(_ given: SectionReader) {
        var section = given
        defer { section.finish() }
        name = section.requiredText("name")
        place = section.shownPlace(of: "name")
        sha256 = section.digest("sha256") ?? []
        if !section.has("sha256") { section.fail("sha256", "is missing; give the SHA-256 of the whole key") }
        scopes = section.words("scopes", of: Self.knownScopes) ?? []
        if scopes.isEmpty { section.fail("scopes", "is missing; a key without scopes may do nothing") }
        let allowed = name.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) || byte == 0x2d
        }
        // The name stands in the key itself: cgk_NAME_RANDOM.
        if !allowed || name.utf8.count > 64 {
            section.fail("name", "must be letters, digits and -, 64 at most")
        }
    }
}

extension JWTSettings {
    private static let known = [
        "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
    ]

    fileprivate init(_ given: SectionReader) {
        var section = given
        defer { section.finish() }
        issuer = section.requiredText("issuer")
        audience = section.requiredText("audience")
        keys = Self.keySource(&section)
        algorithms = section.algorithms("algorithms", of: Self.known) ?? ["RS256", "ES256", "EdDSA"]
        type = section.text("type")
        subjectClaim = section.text("subject_claim") ?? "sub"
        subjectPrefix = section.text("subject_prefix")
        proxy = ProviderConnectionSettings.environmentProxy(section.context.environment)
        noProxy = ProviderConnectionSettings.environmentNoProxy(section.context.environment)
    }

    private static func keySource(_ section: inout SectionReader) -> KeySource {
        let uri = section.endpoint("jwks_uri")
        var file: String?
        if var jwks = section.optionalSection("jwks") {
            file = section.context.resolve(jwks.requiredText("file"))
            jwks.finish()
        }
        switch (section.has("jwks_uri"), section.has("jwks")) {
        case (true, true): section.fail("jwks", "stands beside jwks_uri; keep one of the two")
        case (false, false): section.fail("jwks_uri", "is missing; give it, or jwks: {file: PATH}")
        default: break
        }
        return file.map { .file(path: $0) } ?? .uri(uri ?? "")
    }
}

extension SectionReader {
    /// Names of signature algorithms; `none` and, save where `known` has it, HS* are refused by name.
    mutating func algorithms(_ key: String, of known: [String]) -> [String]? {
        let algorithms = texts(key) { name in
            if known.contains(name) { return nil }
            if name.hasPrefix("HS") { return "is signed with a shared secret, which is refused here" }
            return "is not known; known are \(known.joined(separator: ", "))"
        }
        if let algorithms, algorithms.isEmpty { fail(key, "must not be an empty list") }
        return algorithms
    }
}

extension AppSettings {
    init(_ given: SectionReader) {
        var section = given
        defer { section.finish() }
        appleAppID = section.text("apple_app_id")
        androidPackage = section.text("android_package")
        androidSHA256 =
            section.texts("android_sha256") { text in
                let digits = text.filter { $0 != ":" }
                return ScalarForms.hexadecimal(digits)?.count == 32 ? nil : "is no SHA-256 of a certificate"
            } ?? []
        returnURLs = section.texts("return_urls", SectionReader.redirectProblem) ?? []
        if androidPackage != nil, androidSHA256.isEmpty {
            section.fail("android_sha256", "is missing; android_package needs its certificates")
        }
    }
}

extension NoticeSettings {
    init(_ given: SectionReader) {
        var section = given
        defer { section.finish() }
        id = section.requiredText("id")
        version = section.requiredText("version")
        controller = section.requiredText("controller")
        privacyPolicy = section.text("privacy_policy")
        userAgreement = section.text("user_agreement")
        textSHA256 = section.digest("text_sha256").map { bytes in
            bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        }
        purposes = section.texts("purposes") ?? []
        jurisdiction = section.text("jurisdiction")
        if id.contains("@") || version.contains("@") {
            section.fail("id", "and version must not contain @, which stands between them in requests")
        }
    }
}
