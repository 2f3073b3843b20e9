// SPDX-License-Identifier: Apache-2.0
import Consents
import Testing
import TokenVaults

@Suite("What lies in the journal")
struct AnsweredWriteTests {
    private let vault: RingVault
    private let id = UUIDv7(milliseconds: 1_767_323_045_678, random: (1, 2))

    init() throws { vault = try sampleVault() }

    @Test("a grant comes back as it was sealed, under its own entry only")
    func grant() throws {
        let code = BlindIndex([UInt8](repeating: 9, count: 32))
        let content = AnsweredWrite.grant(
            code: code, attempt: AttemptID(id), sealed: SealedBytes([0, 1, 254, 255]))
        let entry = try vault.seal(content, journal: id)
        guard case .grant(code, AttemptID(id), SealedBytes([0, 1, 254, 255])) = try vault.open(entry) else {
            Issue.record("another grant came back")
            return
        }
        let moved = JournalEntry(id: UUIDv7(milliseconds: 5, random: (1, 2)), sealed: entry.sealed)
        #expect(throws: VaultFailure.notAuthentic) { try vault.open(moved) }
        #expect(throws: VaultFailure.notAuthentic) {
            try vault.open(JournalEntry(id: id, sealed: entry.sealed.altered(at: 40)))
        }
    }

    @Test("refreshed tokens come back with everything that the store needs", arguments: [true, false])
    func tokens(isFull: Bool) throws {
        let write = TokenWrite(
            id: consentID(4), attempt: AttemptID(id), expectedGeneration: 7, tokens: SealedBytes([1, 2, 3]),
            timing: TokenTiming(
                issuedAt: Instant(milliseconds: 1), accessTokenExpiresAt: Instant(milliseconds: 2),
                refreshTokenExpiresAt: isFull ? Instant(milliseconds: 3) : nil,
                dueAt: isFull ? Instant(milliseconds: 4) : nil),
            isRefreshable: isFull, granted: ScopeSet(["openid", "email"]), at: Instant(milliseconds: 5),
            events: [
                EventDraft(
                    type: .refreshed, at: Instant(milliseconds: 6), caller: "Zoë", requestID: isFull ? "r-1" : nil,
                    data: ["generation": .integer(8), "word": .text("x")],
                    personal: isFull ? SealedBytes([9]) : nil)
            ])
        let entry = try vault.seal(.tokens(write, sampleTokens), journal: id)
        guard case .tokens(let read, sampleTokens) = try vault.open(entry) else {
            Issue.record("other tokens came back")
            return
        }
        #expect(read.id == write.id && read.attempt == write.attempt)
        #expect(read.expectedGeneration == 7 && read.tokens == write.tokens && read.timing == write.timing)
        #expect(read.isRefreshable == isFull && read.granted == write.granted && read.at == write.at)
        let event = try #require(read.events.first)
        #expect(event.type == .refreshed && event.at == Instant(milliseconds: 6) && event.caller == "Zoë")
        #expect(event.requestID == (isFull ? "r-1" : nil) && event.data == write.events[0].data)
        #expect(event.personal == write.events[0].personal)
    }

    @Test("an answer that nobody can read comes back whole, with what was spent for it", arguments: [true, false])
    func unreadable(isCode: Bool) throws {
        let spent: UnreadableAnswer.Spent =
            isCode
            ? .code(BlindIndex([UInt8](repeating: 3, count: 32))) : .refreshToken(consentID(4), generation: 7)
        let answer = UnreadableAnswer(
            spent: spent, provider: ProviderKey(name: "acme", environment: isCode ? "live" : nil), status: 201,
            body: SecretText("<tokens>\u{0}é"), at: Instant(milliseconds: 9))
        let entry = try vault.seal(answer, journal: id)
        let read = try vault.openUnreadable(entry)
        #expect(read.spent == spent && read.provider == answer.provider && read.status == 201)
        #expect(read.body == answer.body && read.at == answer.at)
        #expect(throws: VaultFailure.notAuthentic) { try vault.open(entry) }
    }
}
