// SPDX-License-Identifier: Apache-2.0
import NativeCurl
import NativeEventLoop
import NativeHTTPServer
import NativeSystem

/// One inbound request and the two calls to the provider that an exchange makes; nothing else.
struct Floor: HTTPHandler {
    private let calls: ProviderCalls

    init(loops: EventLoopGroup, _ options: [String: String]) throws {
        calls = try ProviderCalls(loops: loops, options)
    }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
        guard await calls.exchange() != nil, await calls.person() != nil else { return HTTPResponse(status: 502) }
        return HTTPResponse(
            status: 201, headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")],
            body: Floor.record)
    }

    /// As long as the gateway's answer.
    private static let record = [UInt8](repeating: UInt8(ascii: "r"), count: 1500)
}

/// The two calls, with the bytes that the gateway sends.
struct ProviderCalls: Sendable {
    private let loops: EventLoopGroup
    private let clients: [CurlClient]
    private let provider: String

    init(loops: EventLoopGroup, _ options: [String: String]) throws {
        guard let provider = options["provider"] else { throw UsageError() }
        self.provider = provider
        self.loops = loops
        let configuration = CurlConfiguration(caFile: options["ca"])
        clients = try loops.loops.map { try CurlClient(loop: $0, configuration: configuration) }
    }

    func exchange() async -> [UInt8]? { await token(ProviderCalls.form) }

    func refresh() async -> [UInt8]? { await token(ProviderCalls.refreshForm) }

    private func token(_ form: [UInt8]) async -> [UInt8]? {
        await call(
            .postForm(form), "/v1/oauth2/token", spends: true,
            [
                ("Accept", "application/json"), ("User-Agent", "consent-gateway"),
                ("Authorization", "Basic c2ltdWxhdGVkLWNsaWVudDpzaW11bGF0ZWQtc2VjcmV0"),
            ])
    }

    func person() async -> [UInt8]? {
        await call(
            .get, "/v1/identity/openidconnect/userinfo/?schema=openid", spends: false,
            [
                ("Accept", "application/json"), ("User-Agent", "consent-gateway"),
                ("Authorization", "Bearer A21AA" + String(repeating: "x", count: 92)),
            ])
    }

    private func call(
        _ method: CurlMethod, _ path: String, spends: Bool, _ headers: [(name: String, value: String)]
    ) async -> [UInt8]? {
        guard let current = loops.current, let client = clients.first(where: { $0.loop === current }) else {
            return nil
        }
        let request = CurlRequest(
            method: method, url: provider + path, headers: headers, connectTimeout: .seconds(5), timeout: .seconds(30),
            spends: spends)
        guard case .answered(let answer) = await client.perform(request), answer.status == 200 else { return nil }
        return answer.body
    }

    private static let form = Array(
        ("grant_type=authorization_code&response_type=token&redirect_uri=urn%3Aietf%3Awg%3Aoauth%3A2.0%3Aoob"
            + "&code=code-for%3Aperson0123456789abcdef-0-1234%3A0123456789abcdef-0-1234").utf8)
    private static let refreshForm = Array(
        ("grant_type=refresh_token&refresh_token=R103." + String(repeating: "y", count: 80)).utf8)
}
