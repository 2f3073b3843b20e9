// SPDX-License-Identifier: Apache-2.0
import Consents
import Testing

@testable import ProviderClients

@Suite("Arbitrary bytes")
struct MutationTests {
    private static let seeds = [
        #"{"access_token":"A1","token_type":"Bearer","expires_in":900,"refresh_token":"R1","scope":["a","b c"]}"#,
        #"{"error":{"code":"invalid_grant","message":"no \ud83d\ude00"},"correlation_id":"c1","links":[{"a":1e4}]}"#,
        #"{"user_id":"u1","emails":[{"value":"a@x.test","primary":true}],"address":{"postal_code":95131},"name":1.5}"#,
        "access_token=A%2B1&expires=5183999&scope=a%2Cb", "\u{FEFF}<!DOCTYPE html><title>Blocked</title>",
        "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ1MSJ9.AA", "Thu, 01 Jan 2026 00:02:00 GMT",
    ]

    @Test("no body and no header makes a reader crash or break a promise", arguments: 1...6)
    func mutations(seed: UInt64) throws {
        var random = Sequence64(state: seed)
        let secret = SecretText("our-own-secret-value")
        for _ in 0..<400 {
            var body = Array(try #require(MutationTests.seeds.randomElement(using: &random)).utf8)
            for _ in 0..<Int.random(in: 0...6, using: &random) { mutate(&body, &random) }
            let answer = ProviderAnswer(
                status: [200, 200, 201, 302, 400, 401, 403, 429, 500, 503, -1, .max].randomElement(using: &random) ?? 0,
                headers: [
                    ("Retry-After", String(decoding: body.prefix(40), as: UTF8.self)),
                    ("content-type", String(decoding: body.suffix(30), as: UTF8.self)),
                ],
                body: body)
            check(answer, secret)
        }
    }

    private func check(_ answer: ProviderAnswer, _ secret: SecretText) {
        for call in [TokenReader.Call.code, .refresh] {
            let reader = TokenReader(Definitions.payPalRules)
            for outcome in [
                reader.read(answer, to: call, sent: [secret], now: newYear),
                reader.read(cutOff: answer, to: call, sent: [secret], now: newYear),
            ] {
                if case .granted(let granted) = outcome {
                    #expect(answer.isSuccess && !granted.tokens.accessToken.isEmpty)
                    #expect(granted.expiresIn.map { $0 >= 1 } != false)
                }
                if case .throttled(_, let delay?) = outcome { #expect((1...3600).contains(delay.wholeSeconds)) }
                if case .unreadable = outcome { #expect(answer.isSuccess) }
                if let text = outcome.statement?.errorDescription { #expect(text.count <= 200) }
            }
        }
        if case .fetched(let profile) = ProfileReader(Definitions.claims, Definitions.payPalRules)
            .read(answer, sent: [secret])
        {
            #expect(answer.isSuccess && (!profile.claims.isEmpty || !profile.address.isEmpty))
        }
    }

    private func mutate(_ body: inout [UInt8], _ random: inout Sequence64) {
        let position = Int.random(in: 0...body.count, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: body = Array(body[..<position])
        case 1: body.insert(UInt8.random(in: 0...255, using: &random), at: position)
        case 2 where position < body.count: body[position] = UInt8.random(in: 0...255, using: &random)
        case 3 where position < body.count: body.remove(at: position)
        default:
            let pieces = [
                "{", "}", "[", "\"", ":", ",", "1e999", "null", "\\u0000", "\\ud800", "%", "=", "&", "\n", "é",
            ]
            body.insert(contentsOf: Array((pieces.randomElement(using: &random) ?? "").utf8), at: position)
        }
    }
}

/// splitmix64: the same numbers for the same seed.
private struct Sequence64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
