// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeCurl
import NativeJOSE
import NativeJSON
import NativeSystem
import TestSupport
import Testing

@testable import IdentityTokens

/// Time that a test sets.
final class ManualTime: Timekeeper {
    private let time = Locked(Duration.zero)
    var now: Instant { IdentityTokensTests.now }
    var monotonic: Duration { time.withLock { $0 } }
    var sinceBoot: Duration { monotonic }
    func advance(by duration: Duration) { time.withLock { $0 += duration } }
    func sleep(until monotonic: Duration) async throws(CancellationError) {}
}

struct DetachedLauncher: TaskLauncher {
    func launch(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> { Task { await work() } }
}

/// Answers with what a test put there, and counts.
final class ScriptedDocuments: DocumentSource {
    private let script = Locked<(answers: [String: DocumentAnswer], asked: [String])>(([:], []))
    /// Where each request is told of, and what lets it go on; nil: at once.
    let gate: (arrivals: Mailbox<String>, exits: Mailbox<Void>)?

    init(isGated: Bool = false) { gate = isGated ? (Mailbox(), Mailbox()) : nil }

    var asked: [String] { script.withLock { $0.asked } }
    func answer(_ url: String, _ answer: DocumentAnswer) { script.withLock { $0.answers[url] = answer } }

    func get(_ url: ProviderURL) async -> DocumentAnswer {
        let answer = script.withLock { script in
            script.asked.append(url.text)
            return script.answers[url.text] ?? .failed(.status(404))
        }
        if let gate {
            gate.arrivals.post(url.text)
            _ = try? await gate.exits.next()
        }
        return answer
    }
}

private let place = "https://op.test/keys"

private func keys(_ source: ScriptedDocuments, _ time: ManualTime) -> IssuerKeys {
    IssuerKeys(
        at: { .success(ProviderURL(text: place, addresses: .publicOnly)) }, source: source, limits: .usual, time: time,
        launcher: DetachedLauncher(), tell: { _ in })
}

extension IssuerKeys {
    /// As an ID token is looked at.
    fileprivate func verify(_ token: String, by policy: TokenPolicy) async -> IssuerVerdict {
        await verify(token, by: policy, doubt: .waits)
    }
}

private func word(_ verdict: IssuerVerdict) -> String {
    switch verdict {
    case .verified: "verified"
    case .invalid(let fault): "\(fault)"
    case .cannotVerify(let algorithm): "cannot verify \(algorithm)"
    case .keysUnavailable(let fault): "no keys: \(fault)"
    }
}

@Suite struct IssuerKeysTests {
    private let source = ScriptedDocuments()
    private let time = ManualTime()

    private func publish(_ jwks: JSONValue...) { source.answer(place, .document(document(jwks), lifetime: nil)) }

    @Test("keys are fetched for the first token and kept for the next ones; junk fetches nothing")
    func kept() async throws {
        let issuer = try Issuer()
        publish(issuer.jwk())
        let keys = keys(source, time)
        for junk in ["", "a.b.c", issuer.token(claims(), ["alg": "none"]), issuer.token(claims(), ["alg": "ES256K"])] {
            _ = await keys.verify(junk, by: plain)
        }
        #expect(source.asked == [])
        for _ in 0..<3 { #expect(word(await keys.verify(issuer.token(claims()), by: plain)) == "verified") }
        #expect(source.asked == [place])
    }

    @Test("a key that was replaced, under a new name or the same one, is found by one fetch", arguments: ["k2", "k1"])
    func replaced(_ name: String) async throws {
        let (old, new) = (try Issuer(keyID: "k1"), try Issuer(keyID: name))
        publish(old.jwk())
        let keys = keys(source, time)
        #expect(word(await keys.verify(old.token(claims()), by: plain)) == "verified")
        publish(new.jwk())
        // However young the old ones are: a token came that they do not verify.
        time.advance(by: .seconds(1))
        #expect(word(await keys.verify(new.token(claims()), by: plain)) == "verified")
        #expect(source.asked.count == 2)
        let expected = name == "k1" ? TokenFault.signature : .unknownKey
        time.advance(by: .seconds(1))
        #expect(word(await keys.verify(old.token(claims()), by: plain, doubt: .isBrief)) == "\(expected)")
        // Whether there is another key by now nobody knows; the one that is there was fetched a moment ago.
        let early = name == "k1" ? "\(expected)" : "no keys: \(DocumentFault.tooEarly)"
        #expect(word(await keys.verify(old.token(claims()), by: plain)) == early)
        #expect(source.asked.count == 2)
        time.advance(by: .seconds(59))
        #expect(word(await keys.verify(old.token(claims()), by: plain)) == "\(expected)")
        #expect(source.asked.count == 3)
    }

    @Test("tokens of strangers make one fetch a minute, however many they are")
    func strangers() async throws {
        let (issuer, stranger) = (try Issuer(), try Issuer(keyID: "other"))
        publish(issuer.jwk())
        let keys = keys(source, time)
        #expect(word(await keys.verify(stranger.token(claims()), by: plain)) == "\(TokenFault.unknownKey)")
        #expect(source.asked.count == 1)
        for minute in 2...4 {
            time.advance(by: .seconds(1))
            #expect(word(await keys.verify(stranger.token(claims()), by: plain)) == "\(TokenFault.unknownKey)")
            time.advance(by: .seconds(1))
            for number in 0..<20 {
                // Nobody has looked since it came: nothing is known of it.
                let token = stranger.token(claims(), ["kid": JSONValue("k-\(number)")])
                #expect(word(await keys.verify(token, by: plain)) == "no keys: \(DocumentFault.tooEarly)")
            }
            #expect(source.asked.count == minute)
            #expect(word(await keys.verify(issuer.token(claims()), by: plain)) == "verified")
            time.advance(by: .seconds(58))
        }
    }

    @Test("a bad signature is the last word only where the keys were fetched a moment ago")
    func signatures() async throws {
        let (old, new) = (try Issuer(), try Issuer())
        publish(old.jwk())
        let keys = keys(source, time)
        let good = old.token(claims())
        for _ in 0..<3 {
            #expect(word(await keys.verify(new.token(claims()), by: plain)) == "\(TokenFault.signature)")
            time.advance(by: .seconds(1))
        }
        // The one that they were fetched for, and one search.
        #expect(source.asked.count == 2)
        // The issuer changes its key under the same name, and cannot be asked.
        source.answer(place, .failed(.status(503)))
        let token = new.token(claims())
        for _ in 0..<3 {
            time.advance(by: .seconds(60))
            #expect(word(await keys.verify(token, by: plain)) == "no keys: \(DocumentFault.status(503))")
            #expect(word(await keys.verify(good, by: plain)) == "verified")
        }
        publish(new.jwk())
        time.advance(by: .seconds(60))
        #expect(word(await keys.verify(token, by: plain)) == "verified")
        #expect(source.asked.count == 6)
    }

    @Test("a search that failed a moment after the keys were fetched leaves it open what a token is worth")
    func failedSearch() async throws {
        let (old, new) = (try Issuer(), try Issuer())
        publish(old.jwk())
        let keys = keys(source, time)
        #expect(word(await keys.verify(old.token(claims()), by: plain)) == "verified")
        time.advance(by: .seconds(1))
        source.answer(place, .failed(.status(503)))
        for _ in 0..<3 {
            #expect(word(await keys.verify(new.token(claims()), by: plain)) == "no keys: \(DocumentFault.status(503))")
        }
        let unknown = try Issuer(keyID: "other").token(claims())
        let brief = await keys.verify(unknown, by: plain, doubt: .isBrief)
        #expect(word(brief) == "no keys: \(DocumentFault.status(503))")
        #expect(source.asked.count == 2)
        publish(new.jwk())
        time.advance(by: .seconds(60))
        #expect(word(await keys.verify(new.token(claims()), by: plain)) == "verified")
    }

    @Test("whoever shows its token again is refused at once, unless the last fetch has failed and a key is unknown")
    func brief() async throws {
        let (issuer, stranger) = (try Issuer(), try Issuer(keyID: "other"))
        publish(issuer.jwk())
        let keys = keys(source, time)
        let (unknown, forged) = (stranger.token(claims()), try Issuer().token(claims()))
        func ask(_ token: String) async -> String { word(await keys.verify(token, by: plain, doubt: .isBrief)) }
        #expect(await ask(issuer.token(claims())) == "verified")
        time.advance(by: .seconds(1))
        #expect(keys.verifyAtOnce(unknown, by: plain, doubt: .isBrief) == nil, "its key may have come since")
        #expect(await ask(unknown) == "\(TokenFault.unknownKey)")
        time.advance(by: .seconds(59))
        for number in 0..<20 {
            let random = stranger.token(claims(), ["kid": JSONValue("k-\(number)")])
            #expect(await ask(random) == "\(TokenFault.unknownKey)")
            #expect(keys.verifyAtOnce(random, by: plain, doubt: .isBrief) != nil, "it takes nobody's keys")
            #expect(await ask(forged) == "\(TokenFault.signature)")
        }
        #expect(source.asked.count == 2)
        source.answer(place, .failed(.status(503)))
        time.advance(by: .seconds(1))
        for _ in 0..<3 {
            #expect(await ask(unknown) == "no keys: \(DocumentFault.status(503))")
            #expect(await ask(forged) == "\(TokenFault.signature)")
            #expect(await ask(issuer.token(claims())) == "verified", "strangers keep nobody out")
        }
        #expect(source.asked.count == 3)
        publish(issuer.jwk())
        time.advance(by: .seconds(60))
        #expect(await ask(unknown) == "\(TokenFault.unknownKey)")
    }

    @Test("a MAC is the client's secret's and no key's: nothing is fetched for a wrong one")
    func codes() async throws {
        let issuer = try Issuer()
        publish(issuer.jwk())
        let keys = keys(source, time)
        #expect(word(await keys.verify(issuer.token(claims()), by: plain)) == "verified")
        time.advance(by: .seconds(61))
        var policy = plain
        policy.algorithms.insert(.hs256)
        policy.secret = try ClientSecretMAC(secret: Array("0123456789abcdef0123456789abcdef".utf8))
        let token = issuer.token(claims(), ["alg": "HS256"])
        #expect(word(await keys.verify(token, by: policy)) == "\(TokenFault.code)")
        #expect(source.asked.count == 1)
    }

    @Test("a set of one key without a name is fetched anew for a token that names one, and then tried")
    func unnamed() async throws {
        let issuer = try Issuer(keyID: nil)
        publish(issuer.jwk())
        let keys = keys(source, time)
        #expect(word(await keys.verify(issuer.token(claims()), by: plain)) == "verified")
        time.advance(by: .seconds(61))
        #expect(word(await keys.verify(issuer.token(claims(), ["kid": "zz"]), by: plain)) == "verified")
        #expect(source.asked.count == 2)
        time.advance(by: .seconds(30))
        #expect(word(await keys.verify(issuer.token(claims(), ["kid": "zz"]), by: plain)) == "verified")
        #expect(source.asked.count == 2)
    }

    @Test("an answer that was on its way when a token came says nothing about keys that are newer")
    func onItsWay() async throws {
        let source = ScriptedDocuments(isGated: true)
        let gate = try #require(source.gate)
        let (old, new) = (try Issuer(keyID: "k1"), try Issuer(keyID: "k2"))
        let (known, newer) = (old.token(claims()), new.token(claims()))
        source.answer(place, .document(document([old.jwk()]), lifetime: nil))
        let keys = keys(source, time)
        async let first = keys.verify(known, by: plain)
        _ = try await gate.arrivals.next()
        source.answer(place, .document(document([old.jwk(), new.jwk()]), lifetime: nil))
        time.advance(by: .seconds(2))
        async let second = keys.verify(newer, by: plain)
        gate.exits.post(())
        #expect(word(await first) == "verified")
        _ = try await gate.arrivals.next()
        gate.exits.post(())
        #expect(word(await second) == "verified")
        #expect(source.asked.count == 2)
    }

    @Test("while keys cannot be had the old ones stay, whatever is answered in their place")
    func failing() async throws {
        let issuer = try Issuer()
        publish(issuer.jwk())
        let keys = keys(source, time)
        let token = issuer.token(claims())
        #expect(word(await keys.verify(token, by: plain)) == "verified")
        let answers: [(DocumentAnswer, DocumentFault)] = [
            (.failed(.status(503)), .status(503)), (.failed(.noAnswer), .noAnswer),
            (.document(Array(#"{"keys":[]}"#.utf8), lifetime: nil), .noUsableKey),
            (.document(Array(#"{"keys":[{"kty":"oct","k":"AA"}]}"#.utf8), lifetime: nil), .noUsableKey),
            (.document(Array("<html>".utf8), lifetime: nil), .keys(KeySetFault.notJSON.description)),
            (.document([], lifetime: nil), .keys(KeySetFault.notJSON.description)),
        ]
        for (answer, fault) in answers {
            source.answer(place, answer)
            time.advance(by: .seconds(3 * 3600))
            #expect(word(await keys.verify(token, by: plain)) == "verified")
            guard case .failure(let told) = await keys.reload() else {
                Issue.record("a reload that failed was called good")
                continue
            }
            #expect(told == fault)
            #expect(word(await keys.verify(token, by: plain)) == "verified")
        }
        let stranger = try Issuer(keyID: "new").token(claims())
        time.advance(by: .seconds(60))
        #expect(
            word(await keys.verify(stranger, by: plain))
                == "no keys: \(DocumentFault.keys(KeySetFault.notJSON.description))")
        time.advance(by: .seconds(8 * 86_400))
        #expect(word(await keys.verify(token, by: plain)).hasPrefix("no keys"))
    }

    @Test("many who wait at once make one fetch, and all have its outcome")
    func singleFlight() async throws {
        let issuer = try Issuer()
        let source = ScriptedDocuments(isGated: true)
        source.answer(place, .document(document([issuer.jwk()]), lifetime: nil))
        let gate = try #require(source.gate)
        let keys = keys(source, time)
        let token = issuer.token(claims())
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 { group.addTask { word(await keys.verify(token, by: plain)) } }
            _ = try await gate.arrivals.next()
            gate.exits.post(())
            for try await outcome in group { #expect(outcome == "verified") }
        }
        #expect(source.asked == [place])
    }

    @Test("whoever began a fetch may leave; the next one has its outcome")
    func leaving() async throws {
        let issuer = try Issuer()
        let source = ScriptedDocuments(isGated: true)
        source.answer(place, .document(document([issuer.jwk()]), lifetime: nil))
        let gate = try #require(source.gate)
        let keys = keys(source, time)
        let first = Task { await keys.verify(issuer.token(claims()), by: plain) }
        _ = try await gate.arrivals.next()
        first.cancel()
        gate.exits.post(())
        #expect(word(await keys.verify(issuer.token(claims()), by: plain)) == "verified")
        #expect(source.asked == [place])
    }

    @Test("keys of a file are never fetched")
    func fixed() async throws {
        let issuer = try Issuer()
        let keys = IssuerKeys(keySet(issuer.jwk()), time: time)
        #expect(word(await keys.verify(issuer.token(claims()), by: plain)) == "verified")
        let other = try Issuer(keyID: "x").token(claims())
        #expect(word(await keys.verify(other, by: plain)) == "\(TokenFault.unknownKey)")
    }
}

@Suite struct IssuerMetadataTests {
    private let source = ScriptedDocuments()
    private let time = ManualTime()

    private func metadata(_ issuer: String = "https://op.test/a") throws -> IssuerMetadata {
        let rule = try #require(EndpointRule(issuer: issuer, allowedHosts: []))
        return IssuerMetadata(
            issuer: issuer, rule: rule, source: source, limits: .usual, time: time, launcher: DetachedLauncher(),
            tell: { _ in })
    }

    private func publish(_ url: String, _ text: String) {
        source.answer(url, .document(Array(text.utf8), lifetime: nil))
    }

    @Test(
        "the second place is asked where the first has nothing, or a page for people", arguments: [nil, "<html>", "{}"])
    func fallback(_ page: String?) async throws {
        let metadata = try metadata()
        if let page { publish("https://op.test/a/.well-known/openid-configuration", page) }
        publish(
            "https://op.test/.well-known/oauth-authorization-server/a",
            #"{"issuer":"https://op.test/a","jwks_uri":"https://op.test/keys"}"#)
        #expect(try await metadata.place(.keys).get().text == "https://op.test/keys")
        #expect(source.asked == discoveryAddresses(of: "https://op.test/a"))
        guard case .failure(let fault) = await metadata.place(.token) else {
            Issue.record("an endpoint came from nowhere")
            return
        }
        #expect(fault == .noPlace(.token, nil))
    }

    @Test("after the first success a provider that is down for a week is no hindrance")
    func stale() async throws {
        let metadata = try metadata()
        let place = "https://op.test/a/.well-known/openid-configuration"
        publish(place, #"{"issuer":"https://op.test/a/"}"#)
        #expect(try await metadata.current().get().issuer == "https://op.test/a/")
        source.answer(place, .failed(.status(503)))
        for _ in 0..<6 {
            time.advance(by: .seconds(86_400))
            #expect(try await metadata.current().get().issuer == "https://op.test/a/")
        }
        #expect(metadata.lastFault == .status(503))
        guard case .failure = await metadata.reload() else {
            Issue.record("a reload that failed was called good")
            return
        }
        publish(place, #"{"issuer":"https://evil.test"}"#)
        guard case .failure(let fault) = await metadata.reload() else {
            Issue.record("another issuer was taken")
            return
        }
        #expect(fault == .metadata(.issuer(configured: "https://op.test/a", found: "https://evil.test")))
        #expect(try await metadata.current().get().issuer == "https://op.test/a/")
    }
}
