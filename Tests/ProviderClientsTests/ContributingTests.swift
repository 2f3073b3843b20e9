// SPDX-License-Identifier: Apache-2.0
import NativeSystem
import Settings
import Testing

@Suite("What CONTRIBUTING shows")
struct ContributingTests {
    @Test("the provider in twenty lines of data is a profile, and each of its answers is read as it says")
    func profile() throws {
        let root = folder(of: folder(of: folder(of: #filePath)))
        let page = String(
            decoding: try readFile(at: root + "/.github/CONTRIBUTING.md", limit: 1 << 20).bytes, as: UTF8.self)
        let opening = try #require(page.firstRange(of: "```yaml\n"))
        let closing = try #require(page[opening.upperBound...].firstRange(of: "```"))
        let text = page[opening.upperBound..<closing.lowerBound]
        #expect(text.split(separator: "\n").count <= 20)
        let profile = try BuiltInProfiles.profile(Array(text.utf8), named: "acme")
        // What the suite asks of each profile.
        #expect(Set(profile.examples.map(\.call)) == Set(ProfileSettings.AnswerExample.Call.allCases))
        for rule in profile.refreshErrors where rule.errorClass == .grantDead {
            #expect(rule.errors == ["invalid_grant"] || rule.descriptionContains != nil || rule.needsEmptyBody)
        }
        for example in profile.examples { RecordedAnswersTests().check(profile, example) }
    }
}
