// SPDX-License-Identifier: Apache-2.0
import Consents
import Testing
import TokenVaults

@Suite struct BlindIndexTests {
    private let vault: RingVault

    init() throws {
        vault = try sampleVault()
    }

    private func digest(
        _ code: String, _ provider: String = "paypal", _ environment: String? = "live", client: String = "c",
        subject: String? = nil
    ) throws -> BlindIndex {
        let text = code
        guard let code = AuthorizationCode(text) else { throw NoCode() }
        return vault.digest(
            of: code, provider: ProviderKey(name: provider, environment: environment), clientID: client,
            subject: subject.flatMap(Subject.init))
    }
    private struct NoCode: Error {}

    @Test("a code's digest is the same every time and another for anything that differs")
    func codes() throws {
        let all = try [
            digest("code"), digest("codes"), digest("code", "acme"), digest("code", "paypal", "sandbox"),
            digest("code", "paypal", nil), digest("code", "paypal", ""), digest("code", client: "d"),
            digest("code", subject: "user-42"), digest("code", subject: "user-43"),
            digest("e", "paypal", "live", client: "ccod"), digest("code", "payp", "allive"),
        ]
        #expect(Set(all).count == all.count)
        #expect(all.allSatisfy { $0.bytes.count == 32 })
        #expect(try digest("code") == all[0])
    }

    @Test("indexes of one text differ by purpose and provider")
    func purposes() throws {
        let subject = try #require(Subject("x"))
        let live = ProviderKey(name: "paypal", environment: "live")
        let all = [
            vault.index(of: subject), vault.index(ofProviderSubject: SecretText("x"), at: live),
            vault.index(
                ofProviderSubject: SecretText("x"), at: ProviderKey(name: "paypal", environment: "sandbox")),
            vault.index(ofProviderSubject: SecretText("x"), at: ProviderKey(name: "acme", environment: nil)),
        ]
        #expect(Set(all).count == 4)
    }

    @Test("an index hangs on the index key alone: rotation does not change it")
    func rotation() throws {
        let subject = try #require(Subject("user-42"))
        let rotated = sampleRing.replacing(key(2), with: key(9))
        #expect(
            try RingVault(ring: KeyRing(parsing: Array(rotated.utf8))).index(of: subject) == vault.index(of: subject))
        let other = sampleRing.replacing(key(3), with: key(9))
        #expect(try RingVault(ring: KeyRing(parsing: Array(other.utf8))).index(of: subject) != vault.index(of: subject))
    }
}
