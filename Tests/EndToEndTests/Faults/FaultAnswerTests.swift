// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import NativeCurl
import NativeJSON
import NativeSystem
import SimulatedProvider
import Testing

@testable import GatewayAssembly

@Suite("What the gateway makes of a provider's faults")
struct FaultAnswerTests {
    @Test("every fault has a case for every place that it strikes")
    func whole() {
        let placed = Set(
            FaultCases.all.flatMap { item -> [String] in
                var places: [FaultPlace] = []
                if item.exchange != nil { places.append(.exchange) }
                if item.refresh != nil { places.append(.refresh) }
                if item.profile != nil { places.append(.userinfo) }
                if item.revocation != nil { places.append(.revoke) }
                return places.map { "\(item.name)@\($0.rawValue)" }
            })
        for fault in FaultTable.list {
            for place in fault.places where ![.discovery, .keys, .authorize].contains(place) {
                #expect(placed.contains("\(fault.name)@\(place.rawValue)"), "\(fault.name)@\(place.rawValue)")
            }
        }
    }

    @Test("an exchange: the answer, the same request again, the code sent once, nothing that leaks")
    func exchange() async throws {
        try await FaultyGateway.each(of: FaultCases.all.filter { $0.exchange != nil }) { faulty, item, number in
            guard let end = item.exchange else { return }
            let code = FaultyGateway.code(item, number, at: .exchange)
            let first = try await faulty.post(item, number, at: .exchange)
            if item.isLate { #expect(first.code == "exchange_pending", "\(item)") }
            let answer = item.isLate ? try await faulty.postToTheEnd(item, number, at: .exchange) : first
            #expect(answer.status == (item.isLate && end.status == 201 ? 200 : end.status), "\(item): \(answer.text)")
            #expect(answer.code == end.code, "\(item)")
            #expect(faulty.provider.sendings(ofCode: code).sent == 1, "\(item)")
            expectNoSecret(in: answer.text, "the answer to \(item)")
            if case .unavailable(let delay) = end {
                #expect(answer.headers["retry-after"] == String(delay), "\(item)")
            } else {
                #expect(answer.headers["retry-after"] == nil, "\(item)")
            }
            if case .kept = end {
                check(answer.json, item, end)
                let isKnown = answer.json["profile_status"]?.string == "current"
                let person = isKnown ? People.named("canary\(number)").userID : nil
                #expect(answer.json["provider_subject"]?.string == person, "\(item)")
            } else {
                #expect(!answer.text.contains("canary"), "\(item): \(answer.text)")
            }
            let again = try await faulty.post(item, number, at: .exchange)
            #expect(again.code == end.code, "\(item)")
            #expect(again.id == answer.id, "\(item)")
            #expect(again.status == (end.status == 201 ? 200 : end.status), "\(item)")
            let sent = faulty.provider.sendings(ofCode: code).sent
            #expect(end.isUnspent ? (1...2).contains(sent) : sent == 1, "\(item)")
            // The tokens are the provider's, byte for byte: the next refresh is taken.
            guard case .kept(_, _, true, _) = end, let id = answer.id else { return }
            #expect(try await faulty.gateway.refresh(id).status == 200, "\(item)")
        }
    }

    private func check(_ record: JSONValue, _ item: FaultCase, _ end: ExchangeEnd) {
        guard case .kept(let lifetime, let scopes, let isRefreshable, let profile) = end else { return }
        #expect(record["status"]?.string == "active", "\(item)")
        #expect(record["refreshable"]?.boolean == isRefreshable, "\(item)")
        #expect(record["scopes"]?["granted"]?.count == scopes, "\(item)")
        #expect(record["profile_status"]?.string == profile.rawValue, "\(item)")
        let ends = seconds(record["access_token_expires_at"]?.string), begins = seconds(record["created_at"]?.string)
        // Counted from before the request; a slow answer takes its time.
        #expect((lifetime - 30...lifetime + 1).contains(ends - begins), "\(item): \(ends - begins) s")
    }

    /// Seconds since some day long ago; a year begins with March, so that its last day is the one that may be missing.
    private func seconds(_ time: String?) -> Int {
        let parts = (time ?? "").split { "-T:Z.".contains($0) }.compactMap { Int($0) }
        guard parts.count >= 6 else { return .max / 2 }
        let year = parts[1] > 2 ? parts[0] : parts[0] - 1
        let month = (parts[1] + 9) % 12
        let days = 365 * year + year / 4 - year / 100 + year / 400 + (month * 306 + 5) / 10 + parts[2]
        return ((days * 24 + parts[3]) * 60 + parts[4]) * 60 + parts[5]
    }

    @Test("a refresh: the answer, what becomes of the record, the token sent once")
    func refresh() async throws {
        try await FaultyGateway.each(of: FaultCases.all.filter { $0.refresh != nil }) { faulty, item, number in
            guard let end = item.refresh else { return }
            let code = FaultyGateway.code(item, number, at: .refresh)
            let made = try await faulty.post(item, number, at: .refresh)
            #expect(made.status == 201, "\(item)")
            let id = try #require(made.id)
            let token = try #require(faulty.provider.refreshToken(ofCode: code))
            let answer = try await faulty.gateway.refresh(id)
            #expect(answer.status == (item.isLate ? 503 : end.status), "\(item): \(answer.text)")
            #expect(answer.code == (item.isLate ? "provider_unavailable" : end.code), "\(item)")
            #expect((answer.headers["retry-after"] != nil) == (answer.status == 503), "\(item)")
            expectNoSecret(in: answer.text, "the answer to \(item)")
            let record = try await faulty.record(id) {
                $0["status"]?.string == end.record && ($0["last_refreshed_at"]?.isNull == (end != .refreshed))
            }
            #expect(record["status"]?.string == end.record, "\(item)")
            #expect(record["last_refreshed_at"]?.isNull == (end != .refreshed), "\(item)")
            #expect(faulty.provider.sendings(ofRefreshToken: token).sent == 1, "\(item)")
            for event in try await faulty.gateway.events(id) {
                expectNoSecret(in: "\(event.draft.data)", "an event after \(item)")
            }
            // A call on a connection that looks alive and is not is unknown, and not sent again.
            guard end == .refreshed, !item.isLate, item.name != "idle_dead" else { return }
            let next = try #require(faulty.provider.refreshToken(ofCode: code))
            #expect((next != token) == (item.name == "refresh_token_rotated"), "\(item)")
            #expect(try await faulty.gateway.refresh(id).status == 200, "\(item)")
            #expect(faulty.provider.sendings(ofRefreshToken: next).sent == (next == token ? 2 : 1), "\(item)")
        }
    }

    @Test("a profile: what fails there costs no consent, and what is odd is read")
    func profile() async throws {
        try await FaultyGateway.each(of: FaultCases.all.filter { $0.profile != nil }) { faulty, item, number in
            guard let end = item.profile else { return }
            // Where the profile is waited for as long as can be, a busy machine may answer a moment too late.
            let made = try await faulty.postToTheEnd(item, number, at: .userinfo)
            #expect(made.status == 201 || item.isLate && made.status == 200, "\(item): \(made.text)")
            #expect(made.json["status"]?.string == "active", "\(item)")
            #expect(made.json["profile_status"]?.string == end.rawValue, "\(item)")
            #expect((made.json["profile"]?.count ?? 0 > 0) == (end == .current), "\(item)")
            expectNoSecret(in: made.text, "the answer to \(item)")
            for (name, value) in FaultAnswerTests.claims[item.name]?.members ?? JSONValue.object().members {
                let claim = made.json["profile"]?[name]
                #expect(value.isNull ? claim?.isNull != false : claim == value, "\(item): \(name)")
            }
        }
    }

    /// Claims that the odd profiles must bring; null for none.
    private static let claims: [String: JSONValue] = [
        "sub_number": ["sub": "4711"],
        "subject_missing": ["sub": nil],
        "truth_as_text": ["email_verified": true],
        "emails_list": ["email_verified": true],
        "address_as_text": ["address": ["formatted": "1 Main St\nSan Jose, CA 95131\nUS"]],
        "address_odd": ["address": nil],
        "phone_local": ["phone_number": "4082560980"],
        "null_in_claims": ["sub": nil, "name": nil],
        "claims_null": ["email": nil, "name": nil, "address": nil],
        "claim_sources": ["address": nil, "phone_number": nil],
    ]

    @Test("a profile of another person than before is refused: what is held stays, and the trail says so")
    func otherPerson() async throws {
        let item = FaultCase("sub_other", profile: .current)
        try await FaultyGateway.with([item]) { faulty in
            let made = try await faulty.post(item, 0, at: .userinfo)
            let id = try #require(made.id)
            let later = try await faulty.gateway.call(.get, "/v1/consents/\(id)/profile?max_age=0")
            #expect(later.status == 200)
            #expect(later.json["stale"]?.boolean == true)
            #expect(later.json["claims"]?["sub"] == made.json["provider_subject"])
            let types = try await faulty.gateway.events(id).map(\.draft.type)
            #expect(types.contains(.providerSubjectChanged))
        }
    }

    @Test("a revocation is tried again where the provider is in trouble, and ends with the provider's word")
    func revocation() async throws {
        let cases = FaultCases.all.filter { $0.revocation != nil }
        try await FaultyGateway.with(cases) { faulty in
            var made: [(item: FaultCase, id: String)] = []
            for (number, item) in cases.enumerated() {
                let answer = try await faulty.post(item, number, at: .revoke)
                made.append((item, try #require(answer.id, "\(item): \(answer.text)")))
                #expect(try await faulty.gateway.raw("DELETE", "/v1/consents/\(answer.id ?? "")").status == 200)
            }
            let end = MonotonicInstant.now().advanced(by: .seconds(30))
            for (item, id) in made {
                var outcomes: [String] = []
                // One that comes back reset or unheard is told by its events; one that waits has none for a long time.
                while outcomes.count < 2, item.revocation != .again, MonotonicInstant.now() < end {
                    outcomes = try await self.outcomes(of: id, faulty)
                }
                if item.revocation == .again { outcomes = try await self.outcomes(of: id, faulty) }
                let word = item.revocation?.rawValue ?? ""
                #expect(outcomes == (item.revocation == .again ? [] : [word, word]), "\(item)")
            }
            #expect(faulty.provider.calls(of: .revoke) >= made.count)
        }
    }

    private func outcomes(of id: String, _ faulty: FaultyGateway) async throws -> [String] {
        try await faulty.gateway.events(id).filter { $0.draft.type == .tokenRevocation }.map { event in
            if case .text(let word) = event.draft.data["outcome"] { word } else { "none" }
        }
    }

    @Test("an exchange that is cut off at any byte is unknown or unreadable, and a consent once its answer is whole")
    func cutOffAnywhere() async throws {
        let lengths = Array(stride(from: 0, to: 460, by: 6)) + Array(460..<530)
        try await FaultyGateway.with([FaultCase("cut_off")]) { faulty in
            let kept = try await withThrowingTaskGroup(of: (Int, Bool).self) { group in
                var kept: [Int: Bool] = [:]
                for (position, length) in lengths.enumerated() {
                    if position >= 24, let (length, isKept) = try await group.next() { kept[length] = isKept }
                    group.addTask { (length, try await isKept(faulty, after: length)) }
                }
                for try await (length, isKept) in group { kept[length] = isKept }
                return kept
            }
            let whole = try #require(lengths.first { kept[$0] == true })
            #expect(lengths.allSatisfy { kept[$0] == ($0 >= whole) })
            #expect(whole > 460)
        }
    }

    /// Whether an answer of which so many bytes came is a consent.
    private func isKept(_ faulty: FaultyGateway, after length: Int) async throws -> Bool {
        let code = "fault:cut_off=\(length):code-for:canary\(length):x"
        let answer = try await faulty.gateway.post(code: code, subject: "s\(length)", query: "&provider=case0")
        #expect([nil, "exchange_unknown", "provider_bad_response"].contains(answer.code), "\(length): \(answer.text)")
        #expect(faulty.provider.sendings(ofCode: code) == Sendings(sent: 1, taken: 1))
        expectNoSecret(in: answer.text, "the answer after \(length) bytes")
        return answer.code == nil
    }

    @Test("an answer that lies behind another one is nobody's: the next code gets its own")
    func twoAnswers() async throws {
        let item = FaultCase("two_answers", exchange: .kept)
        try await FaultyGateway.with([item]) { faulty in
            for number in 0..<4 {
                let code = "fault:two_answers:code-for:canary\(number):y"
                let made = try await faulty.gateway.post(
                    code: code, subject: "s\(number)", query: "&provider=case0")
                #expect(made.status == 201)
                #expect(made.json["provider_subject"]?.string == People.named("canary\(number)").userID)
            }
        }
    }
}
