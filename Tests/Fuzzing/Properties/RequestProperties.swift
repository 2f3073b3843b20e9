// SPDX-License-Identifier: Apache-2.0
import ConsentUseCases
import Consents
import NativeJSON

@testable import HTTPEdge

/// What holds for every body and query of the consents' calls. An input is the query, a newline and the body.
enum RequestProperties {
    static func check(_ input: [UInt8], _ breaches: inout Breaches) {
        let (query, body) = InputText.firstLine(input)
        checkAccessToken(body, &breaches)
        let target: RawTarget
        do throws(Problem) {
            target = try RawTarget(path: Array("/v1/consents".utf8), query: query)
        } catch {
            check(error, &breaches)
            return
        }
        checkList(target, &breaches)
        checkExchange(body, target, &breaches)
    }

    // MARK: POST /v1/consents

    /// What a request came to, in a form that can be compared.
    private struct Reading: Equatable {
        var code: String
        var provider: String?
        var subject: String
        var isSDKCode: Bool
        var redirectURI: String?
        var verifier: String?
        var environment: String?
        var client: [String?]
        var nonce: String?
        var notice: String?
    }

    private static func read(_ body: [UInt8], _ target: RawTarget) throws(Problem) -> Reading {
        let request = try ExchangeBody(body, target: target)
            .request(caller: CallerIdentity(name: "fuzz", requestID: nil), of: nil)
        return Reading(
            code: request.code.withText { $0 }, provider: request.providerName, subject: request.subject.text,
            isSDKCode: request.parameters.isSDKCode, redirectURI: request.parameters.redirectURI,
            verifier: request.parameters.codeVerifier?.reveal(), environment: request.environmentHint,
            client: [request.client?.platform, request.client?.productName, request.client?.sdkVersion],
            nonce: request.nonce?.reveal(), notice: request.notice)
    }

    private static func checkExchange(_ body: [UInt8], _ target: RawTarget, _ breaches: inout Breaches) {
        let reading: Reading
        do throws(Problem) { reading = try read(body, target) } catch {
            check(error, &breaches)
            // A refusal names a member, never what it holds.
            if let code = (try? JSONValue.parse(body, as: .callers))?["code"]?.string, code.utf8.count > 24 {
                breaches.expect(
                    !Spelling.contains(Array(error.detail.utf8), Array(code.utf8)), "a refusal tells the code")
            }
            return
        }
        breaches.expect((try? read(body, target)) == reading, "the same request was read twice, as two")
        breaches.expect(!reading.code.isEmpty, "a code is empty")
        breaches.expect((1...255).contains(reading.subject.utf8.count), "a subject's length is out of bounds")
        breaches.expect(
            !reading.subject.unicodeScalars.contains { $0.properties.generalCategory == .control },
            "a subject holds a control character")
        if reading.isSDKCode {
            breaches.expect(
                reading.redirectURI == nil && reading.verifier == nil && reading.nonce == nil,
                "an SDK's code took parameters of the caller")
        }
        breaches.expect(
            reading.verifier.map { (43...128).contains($0.utf8.count) } ?? true, "a verifier's length is out of bounds")
        for text in reading.client.compactMap(\.self) {
            breaches.expect(
                text.unicodeScalars.count <= 100 && !text.utf8.contains { $0 < 0x20 || $0 == 0x7F },
                "what the app says of itself is long, or holds a control character")
        }
        checkWrittenAgain(reading, &breaches)
    }

    /// The same request, written by hand: all in the body, an SDK's response wrapped.
    private static func checkWrittenAgain(_ reading: Reading, _ breaches: inout Breaches) {
        var body = JSONValue.object()
        body.set("subject", reading.subject)
        if let provider = reading.provider { body.set("provider", provider) }
        if let notice = reading.notice { body.set("notice", notice) }
        if reading.isSDKCode {
            var client = JSONValue.object()
            let names = ["platform", "product_name", "paypal_sdk_version"]
            for (name, value) in zip(names, reading.client) { if let value { client.set(name, value) } }
            if let environment = reading.environment { client.set("environment", environment) }
            var envelope: JSONValue = ["response_type": "authorization_code"]
            envelope.set("response", ["code": JSONValue(reading.code)])
            if client.count > 0 { envelope.set("client", client) }
            body.set("authorization", envelope)
        } else {
            body.set("code", reading.code)
            if let uri = reading.redirectURI { body.set("redirect_uri", uri) }
            if let verifier = reading.verifier { body.set("code_verifier", verifier) }
            if let nonce = reading.nonce { body.set("nonce", nonce) }
        }
        let target = try? RawTarget(path: Array("/v1/consents".utf8), query: nil)
        let again = target.flatMap { try? read(body.serialized(.compact), $0) }
        breaches.expect(again == reading, "a request that was read and written again is another one")
    }

    // MARK: The other two

    private static func checkAccessToken(_ body: [UInt8], _ breaches: inout Breaches) {
        do throws(Problem) {
            let read = try AccessTokenBody(body)
            breaches.expect(read.minimumLife >= .zero, "a life that must be left is negative")
            guard let rejected = read.rejected else { return }
            breaches.expect(
                rejected.utf8.count == 64 && rejected.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) },
                "a digest is no SHA-256 in small letters")
        } catch { check(error, &breaches) }
    }

    private static func checkList(_ target: RawTarget, _ breaches: inout Breaches) {
        do throws(Problem) {
            let list = try ListQuery(target, of: nil)
            breaches.expect((1...200).contains(list.limit), "a page's length is out of bounds")
            guard let cursor = list.cursor else { return }
            let query = Array("cursor=\(ListQuery.cursorText(cursor))".utf8)
            let again = try ListQuery(RawTarget(path: Array("/v1/consents".utf8), query: query), of: nil)
            breaches.expect(again.cursor == cursor, "a cursor that was read and written again is another one")
        } catch { check(error, &breaches) }
    }

    static func check(_ problem: Problem, _ breaches: inout Breaches) {
        breaches.expect(problem.status == 400, "a request that cannot be read is a \(problem.status)")
        breaches.expect(Problem.codes.contains(problem.code), "a problem has a code of its own")
        breaches.expect(problem.detail.utf8.count <= 400, "a problem tells too much")
    }
}
