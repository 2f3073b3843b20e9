// SPDX-License-Identifier: Apache-2.0
import NativeSystem
import ProviderClients
import Settings
import Testing

@Suite("What CONTRIBUTING shows")
struct ContributingTests {
    @Test("the provider in twenty lines of data is a profile, and its answer is read as it says")
    func profile() throws {
        let root = folder(of: folder(of: folder(of: #filePath)))
        let page = String(
            decoding: try readFile(at: root + "/.github/CONTRIBUTING.md", limit: 1 << 20).bytes, as: UTF8.self)
        let opening = try #require(page.firstRange(of: "```yaml\n"))
        let closing = try #require(page[opening.upperBound...].firstRange(of: "```"))
        let text = page[opening.upperBound..<closing.lowerBound]
        #expect(text.split(separator: "\n").count <= 22)
        let profile = try BuiltInProfiles.profile(Array(text.utf8), named: "acme")
        let example = try #require(profile.examples.first)
        let answer = ProviderAnswer(
            status: example.status, headers: [("Content-Type", example.contentType)], body: Array(example.body.utf8))
        let rules = RecordedAnswersTests().rules(of: profile)
        let outcome = TokenReader(rules).read(answer, to: .code, sent: [], now: newYear)
        #expect(outcome.name == "rejected" && example.expected == "grant_dead")
    }
}
