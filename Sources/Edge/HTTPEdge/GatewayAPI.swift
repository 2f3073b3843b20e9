// SPDX-License-Identifier: Apache-2.0
import ConsentUseCases
package import Consents
package import NativeHTTPServer
import NativeJSON
import NativeSystem
package import Observability
package import RecordRendering

/// The API listener: names the caller, finds the call, and makes an answer of what it comes to.
package struct GatewayAPI: HTTPHandler {
    private let callers: CallerDirectory
    private let limits: CallLimits
    private let proxies: TrustedProxies
    private let pages: PublicPages
    private let calls: GatewayCalls
    private let receipts: ReceiptWriter
    private let time: any Timekeeper
    private let entropy: any Entropy
    private let metrics: Metrics
    private let log: Log

    /// What the routes are called in log lines and metrics.
    package static var routePatterns: [String] { Route.patterns }

    /// - Parameter proxies: who may say whom it speaks for.
    package init(
        callers: CallerDirectory, limits: CallLimits, proxies: TrustedProxies, calls: GatewayCalls,
        receipts: ReceiptWriter, time: any Timekeeper, entropy: any Entropy, openAPI: OpenAPIDocument,
        metrics: Metrics, log: Log
    ) {
        self.callers = callers
        self.limits = limits
        self.proxies = proxies
        pages = PublicPages(openAPI: openAPI, receipts: receipts)
        self.calls = calls
        self.receipts = receipts
        self.time = time
        self.entropy = entropy
        self.metrics = metrics
        self.log = log
    }

    package func admit(_ head: HTTPRequestHead) -> HTTPResponse? {
        // Without a body there is nothing to spare: `respond` makes the same checks.
        guard head.bodyLength != .none else { return nil }
        let context = context(of: head)
        do throws(Problem) {
            if let page = try publicPage(head, context) { return page }
            _ = try admission(of: head, context)
            return nil
        } catch {
            return answer(error, context, nil, false)
        }
    }

    package func respond(to request: HTTPRequest) async -> HTTPResponse {
        let context = context(of: request.head)
        return await LogContext.$current.withValue(context.log) { await respond(to: request, context) }
    }

    private func respond(to request: HTTPRequest, _ context: RequestContext) async -> HTTPResponse {
        var admitted: Admission?
        do throws(Problem) {
            if let page = try publicPage(request.head, context) { return page }
            let admission = try admission(of: request.head, context)
            admitted = admission
            let response = try await perform(admission, request, context)
            tell(context, status: response.status, code: nil, admission)
            return response
        } catch {
            return answer(error, context, admitted, false)
        }
    }

    package func refusal(_ refusal: HTTPRefusal, head: HTTPRequestHead?) -> HTTPResponse {
        answer(Problem(refusal), context(of: head), nil, true)
    }

    private func context(of head: HTTPRequestHead?) -> RequestContext {
        RequestContext(head: head, proxies: proxies, entropy: entropy, time: time)
    }

    // MARK: Before the work

    /// The answers that need no caller.
    private func publicPage(_ head: HTTPRequestHead, _ context: RequestContext) throws(Problem) -> HTTPResponse? {
        guard let page = try pages.answer(to: head, context) else { return nil }
        tell(context, status: page.status, code: nil, nil, route: PublicPages.path(of: head))
        return page
    }

    /// A caller who may make this call.
    private struct Admission {
        let key: APIKey
        let route: Route
        let target: RawTarget
        /// The media type of the answer, if it is a success.
        let form: String
    }

    /// Authentication before anything else; then the path, the method, the scope and the media types.
    private func admission(of head: HTTPRequestHead, _ context: RequestContext) throws(Problem) -> Admission {
        let key = try caller(of: head, context)
        let target = try RawTarget(path: head.rawPath, query: head.rawQuery)
        let route: Route
        switch Route.match(method: head.method, segments: target.segments) {
        case .nothing: throw .notFound
        case .otherMethods(let allow): throw .methodNotAllowed(allow)
        case .route(let found): route = found
        }
        guard key.scopes.contains(route.scope) else { throw .insufficientScope(route.scope) }
        let form = try form(of: route, head.headers)
        if route.needsBody, !(MediaTypes.isJSON(head.headers) && MediaTypes.isUncoded(head.headers)) {
            throw .unsupportedMediaType
        }
        return Admission(key: key, route: route, target: target, form: form)
    }

    private func form(of route: Route, _ headers: HTTPHeaders) throws(Problem) -> String {
        guard let forms = route.forms else {
            guard MediaTypes.acceptsJSON(headers) else { throw .notAcceptable }
            return "application/json"
        }
        guard let form = MediaTypes.best(of: forms, for: headers) else { throw .notAcceptable(forms) }
        return form
    }

    private func caller(of head: HTTPRequestHead, _ context: RequestContext) throws(Problem) -> APIKey {
        do {
            return try callers.caller(of: head.headers)
        } catch {
            if error.status == 401 { try limits.countFailedLogin(from: context.peer) }
            throw error
        }
    }

    // MARK: The work

    private func perform(_ admission: Admission, _ request: HTTPRequest, _ context: RequestContext)
        async throws(Problem) -> HTTPResponse
    {
        try limits.countRequest(of: admission.key.name)
        let caller = CallerIdentity(name: admission.key.name, requestID: context.requestID)
        let target = admission.target
        switch admission.route {
        case .createConsent:
            let exchange = try ExchangeBody(request.body, target: target).request(caller: caller)
            do { return created(try await calls.redeem(exchange), admission, context) } catch { throw Problem(error) }
        case .listConsents:
            return try await list(ListQuery(target), context)
        case .consent(let id):
            do { return record(try await calls.read(id), context) } catch { throw Problem(error) }
        case .withdraw(let id):
            do {
                return record(try await calls.withdraw(id, reason: .user, caller: caller), context)
            } catch { throw Problem(error) }
        case .profile(let id):
            let maxAge = try target.seconds("max_age", atLeast: 0)
            do {
                let reading = try await calls.profile(id, maxAge: maxAge, caller: caller)
                return Answer.json(ProfileJSON.value(of: reading), context)
            } catch { throw Problem(error) }
        case .refresh(let id):
            do { return record(try await calls.refresh(id, caller: caller), context) } catch { throw Problem(error) }
        case .accessToken(let id):
            return try await accessToken(id, AccessTokenBody(request.body), caller, context)
        case .events(let id):
            do {
                return Answer.json(EventJSON.list(try await calls.events(id)), context)
            } catch { throw Problem(error) }
        case .receipt(let id): return try await receipt(id, as: admission.form, context)
        }
    }

    private func list(_ query: ListQuery, _ context: RequestContext) async throws(Problem) -> HTTPResponse {
        do {
            let page = try await calls.list(
                subject: query.subject, provider: query.provider, status: query.status, before: query.cursor,
                limit: query.limit)
            return Answer.json(
                Answer.list(
                    page.items.map { ConsentJSON.value(of: $0, includingProfile: false) },
                    next: page.next.map(ListQuery.cursorText)), context)
        } catch { throw Problem(error) }
    }

    private func accessToken(
        _ id: ConsentID, _ body: AccessTokenBody, _ caller: CallerIdentity, _ context: RequestContext
    ) async throws(Problem) -> HTTPResponse {
        do {
            let handout = try await calls.accessToken(
                id, minimumLife: body.minimumLife, rejected: body.rejected, caller: caller)
            return Answer.json(
                [
                    "access_token": JSONValue(handout.accessToken.reveal()), "token_type": JSONValue(handout.tokenType),
                    "expires_at": JSONValue(handout.expiresAt.text), "scope": JSONValue(handout.scopes.blankSeparated),
                ], context)
        } catch { throw Problem(error) }
    }

    private func receipt(_ id: ConsentID, as form: String, _ context: RequestContext) async throws(Problem)
        -> HTTPResponse
    {
        let receipt: ConsentReceipt
        do { receipt = try await calls.receipt(id) } catch { throw Problem(error) }
        if form != ReceiptForm.token.rawValue {
            return Answer.bytes(receipts.json(of: receipt).serialized(.compact), type: form, context)
        }
        do throws(VaultFailure) {
            return Answer.bytes(Array(try receipts.token(of: receipt).utf8), type: form, context)
        } catch {
            log.error("a receipt cannot be signed", [Fact(.consentID, "\(id)"), Fact(.reason, "\(error)")])
            throw Problem(ConsentFailure.ourFault)
        }
    }

    private func record(_ consent: OpenedConsent, _ context: RequestContext) -> HTTPResponse {
        Answer.json(ConsentJSON.value(of: consent, includingProfile: false), context)
    }

    /// 201 for a new record; 200 for one that was renewed, or that the same code had become before.
    private func created(_ redemption: Redemption, _ admission: Admission, _ context: RequestContext) -> HTTPResponse {
        let showsProfile = admission.key.scopes.contains(.profilesRead)
        var json = ConsentJSON.value(of: redemption.consent, includingProfile: showsProfile)
        if redemption.isOfflineReused { json.set("offline", "reused") }
        let location = (name: "Location", value: "/v1/consents/\(redemption.consent.record.id)")
        return Answer.json(json, status: redemption.kind == .created ? 201 : 200, context, headers: [location])
    }

    // MARK: The answer

    private func answer(_ problem: Problem, _ context: RequestContext, _ admission: Admission?, _ closes: Bool)
        -> HTTPResponse
    {
        tell(context, status: problem.status, code: problem.code, admission)
        return Answer.problem(problem, context, closes: closes)
    }

    private func tell(_ context: RequestContext, status: Int, code: String?, _ admission: Admission?) {
        tell(context, status: status, code: code, admission, route: admission?.route.pattern)
    }

    private func tell(
        _ context: RequestContext, status: Int, code: String?, _ admission: Admission?, route: String?
    ) {
        let duration = time.monotonic - context.receivedAt
        measure(context, status: status, code: code, route ?? MetricWords.other, duration)
        let level: LogLevel = status >= 500 && status != 503 ? .warning : .info
        LogContext.$current.withValue(context.log) {
            log.write(level, "request answered") {
                [
                    Fact(.method, Route.isMethod(context.method) ? context.method : "other"),
                    Fact(.route, route), Fact(.status, status), Fact(.code, code),
                    Fact(.caller, admission?.key.name), Fact(.peer, context.peer?.text),
                    Fact(.durationMilliseconds, duration),
                ]
            }
        }
    }

    private func measure(
        _ context: RequestContext, status: Int, code: String?, _ route: String, _ duration: Duration
    ) {
        metrics.count(.httpRequests, [route, context.method, String(status)])
        metrics.observe(duration, in: .httpRequestDuration, [route])
        if let code { metrics.count(.httpProblems, [code]) }
        if status == 401 { metrics.count(.apiKeyFailures, []) }
    }
}
