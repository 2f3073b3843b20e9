// SPDX-License-Identifier: Apache-2.0
import ConsentUseCases
import Consents
import Testing

@testable import HTTPEdge

@Suite("Bodies of POST /v1/consents")
struct ExchangeBodyTests {
    static let caller = CallerIdentity(name: "test", requestID: nil)
    static let sdk =
        #""response_type":"authorization_code","response":{"code":"EBYhRW3ncivudQn8UopLp4A28"},"client":{"#
        + #""environment":"sandbox","paypal_sdk_version":"2.18.1","platform":"iOS","product_name":"PayPal iOS SDK"}"#

    static func request(_ body: String, query: String? = nil) throws -> ExchangeRequest {
        let target = try RawTarget(path: Array("/v1/consents".utf8), query: query.map { Array($0.utf8) })
        return try ExchangeBody(Array(body.utf8), target: target).request(caller: caller, of: nil)
    }

    @Test("the SDK's response comes bare, the rest in the query")
    func bareEnvelope() throws {
        let request = try ExchangeBodyTests.request(
            "{\(ExchangeBodyTests.sdk)}", query: "provider=paypal&subject=user-42&notice=signup@3")
        #expect(request.code.withText { $0 } == "EBYhRW3ncivudQn8UopLp4A28")
        #expect(request.providerName == "paypal")
        #expect(request.subject.text == "user-42")
        #expect(request.notice == "signup@3")
        #expect(request.environmentHint == "sandbox")
        #expect(request.parameters.isSDKCode)
        #expect(
            request.client
                == ClientApp(platform: "iOS", productName: "PayPal iOS SDK", sdkVersion: "2.18.1"))
    }

    @Test("the SDK's response comes wrapped")
    func wrappedEnvelope() throws {
        let request = try ExchangeBodyTests.request(
            #"{"provider":"paypal","subject":"user-42","authorization":{\#(ExchangeBodyTests.sdk)}}"#)
        #expect(request.code.withText { $0 } == "EBYhRW3ncivudQn8UopLp4A28")
        #expect(request.environmentHint == "sandbox")
    }

    @Test("any provider's code comes with what belongs to it, unchanged")
    func anyCode() throws {
        let verifier = String(repeating: "v", count: 43)
        let request = try ExchangeBodyTests.request(
            #"{"provider":"acme","subject":"u","code":"4%2F0AX+/=é","redirect_uri":"com.app:/cb","#
                + #""code_verifier":"\#(verifier)","nonce":"n","notice":"signup@3"}"#)
        #expect(request.code.withText { $0 } == "4%2F0AX+/=é")
        #expect(!request.parameters.isSDKCode)
        #expect(request.parameters.redirectURI == "com.app:/cb")
        #expect(request.parameters.codeVerifier?.reveal() == verifier)
        #expect(request.nonce?.reveal() == "n")
        #expect(request.issuer == nil)
        #expect(request.client == nil)
    }

    @Test("the issuer of an authorization response is taken from it, in all three forms")
    func issuers() throws {
        for body in [
            #"{"subject":"u","code":"c","iss":"https://op.test"}"#,
            #"{"subject":"u","authorization":{"response":{"code":"c","iss":"https://op.test"}}}"#,
            #"{"subject":"u","authorization":{"response":{"code":"c"}},"iss":"https://op.test"}"#,
            #"{"subject":"u","authorization":{"response":{"code":"c","iss":"https://op.test"}},"iss":"https://op.test"}"#,
        ] {
            #expect(try ExchangeBodyTests.request(body).issuer == "https://op.test")
        }
        let bare = #"{"response_type":"authorization_code","response":{"code":"c","iss":"https://op.test"}}"#
        #expect(try ExchangeBodyTests.request(bare, query: "subject=u").issuer == "https://op.test")
        let null = bare.replacing(#""https://op.test""#, with: "null")
        #expect(try ExchangeBodyTests.request(null, query: "subject=u").issuer == nil)
    }

    static let refused: [(body: String, code: String, detail: String)] = [
        ("", "invalid_request", "the body"),
        ("[]", "invalid_request", "object"),
        ("{", "invalid_request", "the body"),
        (#"{"subject":"u","code":"c",}"#, "invalid_request", "trailing comma"),
        (#"{"subject":"u","subject":"u","code":"c"}"#, "invalid_request", "duplicate key"),
        (#"{"code":"c"}"#, "invalid_request", "subject"),
        (
            #"{"subject":"u","authorization":{"response":{"code":"c","iss":"https://a"}},"iss":"https://b"}"#,
            "invalid_request", "iss: it is another one than response.iss"
        ),
        (#"{"subject":"u"}"#, "invalid_request", "code"),
        (#"{"subject":"u","code":""}"#, "invalid_request", "code"),
        (#"{"subject":"u","code":7}"#, "invalid_request", "code: it must be a string"),
        (#"{"subject":7,"code":"c"}"#, "invalid_request", "subject: it must be a string"),
        (#"{"subject":"","code":"c"}"#, "invalid_request", "subject"),
        (#"{"subject":"u","code":"c","client_secret":"s"}"#, "secret_in_request", "client_secret"),
        (#"{"subject":"u","code":"c","code_verifier":"short"}"#, "invalid_request", "code_verifier"),
        (#"{"subject":"u","code":"c","authorization":{"response":{"code":"d"}}}"#, "invalid_request", "one code"),
        (#"{"subject":"u","authorization":"x"}"#, "invalid_request", "authorization"),
        (#"{"subject":"u","response_type":"token","response":{"code":"c"}}"#, "invalid_request", "response_type"),
        (#"{"subject":"u","response_type":"authorization_code"}"#, "invalid_request", "response"),
        (#"{"subject":"u","response":{"code":1}}"#, "invalid_request", "response.code"),
        (#"{"subject":"u","response":{"code":"c"},"client":[]}"#, "invalid_request", "client"),
        (
            #"{"subject":"u","response":{"code":"c"},"client":{"environment":1}}"#, "invalid_request",
            "client.environment"
        ),
    ]

    @Test("a wrong body is refused, and the detail names what is wrong", arguments: refused)
    func refusedBodies(_ body: String, _ code: String, _ detail: String) throws {
        do throws(any Error) {
            let request = try ExchangeBodyTests.request(body)
            Issue.record("taken: \(request.subject)")
        } catch let problem as Problem {
            #expect(problem.status == 400)
            #expect(problem.code == code)
            #expect(problem.detail.contains(detail), "\(problem.detail)")
        }
    }

    @Test(
        "a client secret is refused wherever it stands and however it is spelled",
        arguments: [
            (#"{"subject":"u","code":"c","clientSecret":null}"#, nil),
            (#"{"subject":"u","code":"c","Client-Secret":"s"}"#, nil),
            (#"{"subject":"u","authorization":{"response":{"code":"c"},"client_secret":"s"}}"#, nil),
            (#"{"subject":"u","response":{"code":"c","client_secret":"s"}}"#, nil),
            (#"{"subject":"u","response":{"code":"c"},"client":{"x":[1,[{"CLIENT_SECRET":"s"}]]}}"#, nil),
            (#"{"subject":"u","code":"c"}"#, "client_secret=s"),
            (#"{"subject":"u","code":"c"}"#, "x=1&client%5Fsecret"),
        ] as [(String, String?)])
    func secrets(_ body: String, _ query: String?) {
        #expect(throws: Problem.secretInRequest) {
            _ = try ExchangeBodyTests.request(body, query: query).subject
        }
    }

    @Test("a value that reads client_secret is no secret")
    func noSecret() throws {
        let request = try ExchangeBodyTests.request(
            #"{"subject":"client_secret","code":"client_secret","client_secret_hint":"x","x":["client_secret"]}"#)
        #expect(request.subject.text == "client_secret")
    }

    @Test("a query that contradicts the body is refused")
    func contradiction() {
        #expect(throws: Problem.self) {
            _ = try ExchangeBodyTests.request(#"{"subject":"u","code":"c"}"#, query: "subject=v").subject
        }
    }
}
