// SPDX-License-Identifier: Apache-2.0
import NativeSystem
import Testing

@testable import Settings

@Suite("Providers' profiles")
struct ProfileTests {
    private static let embedded = [("generic", PackageResources.generic_yaml)] + BuiltInProfiles.presetFiles
    private static let names = embedded.map(\.0)

    @Test("the profiles that the program carries are those in Config/providers")
    func carried() throws {
        let root = folder(of: folder(of: folder(of: #filePath)))
        let files = try NativeSystem.names(inDirectory: root + "/Config/providers").sorted()
        #expect(files == Self.names.map { $0 + ".yaml" }.sorted())
        for (name, text) in Self.embedded {
            let file = try SampleSettings.file("Config/providers/\(name).yaml")
            #expect(file.elementsEqual(text), "\(name)")
            #expect(try BuiltInProfiles.profile(file, named: name).name == name)
        }
    }

    @Test("the schema knows each profile that can be named as a preset")
    func schema() throws {
        let schema = String(decoding: try SampleSettings.file("Config/gateway.schema.json"), as: UTF8.self)
        let known = BuiltInProfiles.presetFiles.map { "\"\($0.name)\"" }.joined(separator: ",")
        #expect(schema.filter { !$0.isWhitespace }.contains(#""preset":{"enum":[\#(known)]"#))
    }

    @Test("every example names a class that there is, and every kind of call has one", arguments: names)
    func examples(name: String) throws {
        let profile = try BuiltInProfiles.profile(
            try SampleSettings.file("Config/providers/\(name).yaml"), named: name)
        let known = ProfileSettings.ErrorClass.allCases.map(\.rawValue) + ["success", "unreadable"]
        for example in profile.examples { #expect(known.contains(example.expected), "\(example.title)") }
        #expect(Set(profile.examples.map(\.call)) == Set(ProfileSettings.AnswerExample.Call.allCases))
        #expect(Set(profile.examples.map(\.title)).count == profile.examples.count)
    }

    @Test(
        "an error other than invalid_grant ends a grant only with a description or an empty body",
        arguments: names)
    func gravestones(name: String) throws {
        let profile = try BuiltInProfiles.profile(
            try SampleSettings.file("Config/providers/\(name).yaml"), named: name)
        for rule in profile.refreshErrors where rule.errorClass == .grantDead && rule.errors != ["invalid_grant"] {
            #expect(rule.descriptionContains != nil || rule.needsEmptyBody)
        }
    }

    @Test("claims with the same name in both schemas are found where each has them")
    func claims() throws {
        let paypal = try #require(try BuiltInProfiles.load().presets.first)
        let email = try #require(paypal.claims.first { $0.claim == "email" })
        #expect(email.from == ["email", "emails[primary].value"])
        #expect(paypal.claims.first { $0.claim == "sub" }?.from == ["sub", "user_id"])
        #expect(paypal.scopeClaims.map(\.scope) == ["https://uri.paypal.com/services/paypalattributes"])
    }

    @Test("a provider whose tokens stand deeper, or that counts in milliseconds, is told of in its section")
    func tokenMembers() throws {
        let lines = [
            "token_members: { access_token: /authed_user/access_token, scope: /a~1b/0 }", "lifetime_unit: milliseconds",
        ]
        let loaded = try SampleSettings.read(SampleSettings.withProviderLines(lines[0], lines[1]))
        let profile = try #require(loaded.settings.providers.first).profile
        #expect(profile.tokenMembers.map(\.name) == ["access_token", "scope"])
        #expect(profile.tokenMembers.map(\.text) == ["/authed_user/access_token", "/a~1b/0"])
        #expect(profile.lifetimeUnit == .milliseconds)
        for wrong in ["{ acces_token: /a }", "{ access_token: a }", "{ access_token: /a~2 }", "[/a]"] {
            let errors = SampleSettings.errors(SampleSettings.withProviderLines("token_members: \(wrong)"))
            #expect(errors.count == 1 && errors[0].contains("token_members"), "\(errors)")
        }
    }

    @Test("PayPal's live, sandbox and mock environments are one profile: the same dialects, other addresses")
    func environments() throws {
        for environment in ["live", "sandbox", "mock"] {
            let text =
                SampleSettings.head + """
                    providers:
                      paypal:
                        preset: paypal
                        environment: \(environment)
                        api_url: https://127.0.0.1:1
                        client_id: shop
                        client_secret: { env: ACME_SECRET }

                    """
            let loaded = try SampleSettings.read(text)
            let profile = try #require(loaded.settings.providers.first).profile
            let preset = try #require(try BuiltInProfiles.load().presets.first)
            #expect(profile.codeErrors == preset.codeErrors && profile.refreshErrors == preset.refreshErrors)
            #expect(profile.claims == preset.claims && profile.examples == preset.examples)
        }
    }

    @Test("a preset without environments is named alone: its addresses and dialects are the profile's")
    func withoutEnvironments() throws {
        let page = String(decoding: try SampleSettings.file(".github/CONTRIBUTING.md"), as: UTF8.self)
        let sample = try #require(page.split(separator: "```yaml\n").last?.split(separator: "```").first)
        let profiles = BuiltInProfiles(
            generic: try BuiltInProfiles.load().generic,
            presets: [try BuiltInProfiles.profile(Array(sample.utf8), named: "acme")])
        func read(_ line: String) throws(SettingsErrors) -> LoadedSettings {
            let provider = SampleSettings.provider
                .replacing("token_endpoint: https://login.acme.example/token", with: line)
            return try SettingsLoader.parse(
                Array((SampleSettings.head + provider).utf8), file: "conf/gateway.yaml",
                environment: SampleSettings.secrets, options: .whole, profiles: profiles)
        }
        let acme = try #require(try read("preset: acme").settings.providers.first)
        #expect(acme.environment == nil && acme.endpoints.token == "https://login.acme.example/oauth/token")
        #expect(acme.endpoints.userinfo == "https://login.acme.example/oauth/userinfo")
        #expect(acme.client.authentication == .post && acme.profile.codeErrors == profiles.presets[0].codeErrors)
        for key in ["environment: live", "api_url: https://a.example"] {
            let errors = #expect(throws: SettingsErrors.self) { try read("preset: acme\n    \(key)") }
            #expect(errors?.entries.map(\.description).first?.contains("the preset acme has one place") == true)
        }
    }

    @Test(
        "a preset of a program that people run themselves has dialects and the standard's claims, and no addresses",
        arguments: ["glewlwyd", "idpy-oidc", "django-oauth-toolkit", "microsoft", "okta"])
    func selfHosted(name: String) throws {
        let loaded = try SampleSettings.read(SampleSettings.withProviderLines("preset: \(name)"))
        let provider = try #require(loaded.settings.providers.first)
        #expect(provider.profile.name == name && provider.environment == nil)
        #expect(provider.profile.claims == (try BuiltInProfiles.load().generic.claims))
        #expect(provider.endpoints.token == "https://login.acme.example/token")
        let text = SampleSettings.withProviderLines("preset: \(name)")
            .replacing("    token_endpoint: https://login.acme.example/token\n", with: "")
        #expect(SampleSettings.errors(text).contains { $0.contains("token_endpoint: is missing") })
        let errors = SampleSettings.errors(SampleSettings.withProviderLines("preset: \(name)", "environment: live"))
        #expect(errors.contains { $0.contains("the preset \(name) has no environments") }, "\(errors)")
    }

    private func read(preset: String, _ lines: String...) throws -> LoadedSettings {
        let provider = SampleSettings.withProviderLines("preset: \(preset)", lines.joined(separator: "\n    "))
            .replacing("    token_endpoint: https://login.acme.example/token\n", with: "")
            .replacing("    id_token: ignored\n", with: "")
        return try SampleSettings.read(provider)
    }

    @Test(
        "a preset of a provider in one place has its issuer, its addresses, and what brings a refresh token",
        arguments: [
            ("google", "https://accounts.google.com", "https://oauth2.googleapis.com/token", "access_type"),
            ("apple", "https://appleid.apple.com", "https://appleid.apple.com/auth/token", "response_mode"),
        ])
    func onePlace(name: String, issuer: String, token: String, parameter: String) throws {
        let provider = try #require(try read(preset: name).settings.providers.first)
        #expect(provider.issuer == issuer && provider.endpoints.token == token)
        #expect(provider.endpoints.jwks != nil && provider.endpoints.revocation != nil)
        #expect(provider.authorizationParameters.first?.name == parameter)
        #expect(provider.idTokenAlgorithms == ["RS256"])
        #expect(provider.refreshTokenReuse == .static && provider.client.authentication == .post)
        // One person's withdrawal ends all of that person's there: so others are looked for.
        #expect(provider.revocationScope == .grant && provider.onSharedSubject == .warn)
    }

    @Test("the scope without which there is no refresh token is missed, with the line of the scopes")
    func refreshScope() throws {
        let issuer = "issuer: https://login.acme.example\n    token_endpoint: https://login.acme.example/v2/token"
        for name in ["microsoft", "okta"] {
            let loaded = try read(preset: name, issuer, "scopes: [openid]")
            #expect(loaded.warnings.map(\.keyPath) == ["providers.acme.scopes"])
            #expect(loaded.warnings.first?.description.contains("without offline_access") == true)
            #expect(try read(preset: name, issuer, "scopes: [openid, offline_access]").warnings.isEmpty)
        }
    }

    @Test("an unused refresh token's life is the provider's, and half of it bounds the time between two refreshes")
    func idleLives() throws {
        let days = { (days: Int) in Duration.seconds(days * 86_400) }
        let issuer = "issuer: https://login.acme.example"
        let okta = try #require(try read(preset: "okta", issuer).settings.providers.first)
        #expect(okta.idleLife == days(7) && okta.refresh.interval == days(7) / 2)
        let microsoft = try #require(try read(preset: "microsoft", issuer).settings.providers.first)
        #expect(microsoft.idleLife == days(90) && microsoft.refresh.interval == days(30))
        #expect(microsoft.refreshTokenReuse == .grace(.seconds(86_400)))
        let google = try #require(try read(preset: "google").settings.providers.first)
        #expect(google.idleLife == days(180) && google.refresh.interval == days(30))
        let apple = try #require(try read(preset: "apple").settings.providers.first)
        #expect(apple.idleLife == nil && apple.pkce == .unsupported && apple.nonce == .required)
    }

    @Test("a profile with an unknown key is refused with its line")
    func unknownKey() {
        do {
            _ = try BuiltInProfiles.profile(Array("name: x\ntitle: y\nclaim: []\n".utf8), named: "x")
            Issue.record("it was read")
        } catch {
            #expect(error.description == "providers/x.yaml:3: claim: unknown key; did you mean claims?")
        }
    }
}
