// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Settings

@Suite("Providers' profiles")
struct ProfileTests {
    @Test("the profiles that the program carries are those in Config/providers", arguments: ["generic", "paypal"])
    func embedded(name: String) throws {
        let file = try SampleSettings.file("Config/providers/\(name).yaml")
        let embedded = name == "paypal" ? PackageResources.paypal_yaml : PackageResources.generic_yaml
        let isSame = embedded == file
        #expect(isSame)
        #expect(try BuiltInProfiles.profile(file, named: name).name == name)
    }

    @Test(
        "every example names a class that there is, and every kind of call has one", arguments: ["generic", "paypal"])
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
        arguments: ["generic", "paypal"])
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
