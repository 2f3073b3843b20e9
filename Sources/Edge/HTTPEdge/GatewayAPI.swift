// SPDX-License-Identifier: Apache-2.0
import ConsentUseCases
package import Consents
package import NativeHTTPServer
package import NativeJSON
import NativeSystem
package import Observability
package import RecordRendering

/// The API listener: names the caller, finds the call, and makes an answer of what it comes to.
package final class GatewayAPI: HTTPHandler {
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

    /// - Parameters:
    ///   - proxies: who may say whom it speaks for.
    ///   - clientKeys: the public keys of the client's assertions, as they are now: a JWK Set.
    package init(
        callers: CallerDirectory, limits: CallLimits, proxies: TrustedProxies, calls: GatewayCalls,
        receipts: ReceiptWriter, clientKeys: @escaping @Sendable () -> JSONValue, time: any Timekeeper,
        entropy: any Entropy, openAPI: OpenAPIDocument, metrics: Metrics, log: Log
    ) {
        self.callers = callers
        self.limits = limits
        self.proxies = proxies
        pages = PublicPages(openAPI: openAPI, receipts: receipts, clientKeys: clientKeys)
        self.calls = calls
        self.receipts = receipts
        self.time = time
        self.entropy = entropy
        self.metrics = metrics
        self.log = log
    }

    package func admit(_ head: inout HTTPRequestHead) -> HTTPResponse? {
        // Without a body there is nothing to spare: `respond` makes the same checks.
        guard head.bodyLength != .none else { return nil }
        var known = KnownFacts(route: PublicPages.path(of: head))
        do throws(Problem) {
            if known.route != nil, let page = try publicPage(head, context(of: head), known) { return page }
            // A session that takes its issuer's keys is judged once the body is in, which has its limit.
            if let caller = try caller(of: head, proxies.peer(of: head)) {
                head.admission = try admission(of: head, caller, &known)
            }
            return nil
        } catch {
            return answer(error, context(of: head), known, false)
        }
    }

    package func respond(to request: HTTPRequest) async -> HTTPResponse {
        let context = context(of: request.head)
        return await LogContext.$current.withValue(context.log) { await respond(to: request, context) }
    }

    private func respond(to request: HTTPRequest, _ context: RequestContext) async -> HTTPResponse {
        var known = KnownFacts(route: PublicPages.path(of: request.head))
        do throws(Problem) {
            if let page = try publicPage(request.head, context, known) { return page }
            let admission: Admission
            if let early = request.head.admission as? Admission {
                (known.caller, known.route) = (early.caller.name, early.route.pattern)
                admission = early
            } else if let caller = try caller(of: request.head, context.peer) {
                admission = try self.admission(of: request.head, caller, &known)
            } else {
                admission = try self.admission(of: request.head, await session(of: request.head, context.peer), &known)
            }
            let response = try await perform(admission, request, context)
            tell(context, status: response.status, code: nil, known)
            return response
        } catch {
            return answer(error, context, known, false)
        }
    }

    package func refusal(_ refusal: HTTPRefusal, head: HTTPRequestHead?) -> HTTPResponse {
        answer(Problem(refusal), context(of: head), KnownFacts(), true)
    }

    private func context(of head: HTTPRequestHead?) -> RequestContext {
        RequestContext(head: head, proxies: proxies, entropy: entropy, time: time)
    }

    // MARK: Before the work

    /// What is known of a request so far, for its line in the log and its series.
    private struct KnownFacts {
        /// See `Caller.name`.
        var caller: String?
        /// A pattern.
        var route: String?
    }

    /// The answers that need no caller.
    private func publicPage(_ head: HTTPRequestHead, _ context: RequestContext, _ known: KnownFacts) throws(Problem)
        -> HTTPResponse?
    {
        guard let page = try pages.answer(to: head, context) else { return nil }
        tell(context, status: page.status, code: nil, known)
        return page
    }

    /// A caller who may make this call.
    private final class Admission: Sendable {
        let caller: Caller
        let route: Route
        let target: RawTarget
        /// The media type of the answer, if it is a success.
        let form: String

        init(caller: Caller, route: Route, target: RawTarget, form: String) {
            self.caller = caller
            self.route = route
            self.target = target
            self.form = form
        }
    }

    /// Once the caller is known: the path, the method, the scope and the media types.
    private func admission(of head: HTTPRequestHead, _ caller: Caller, _ known: inout KnownFacts)
        throws(Problem) -> Admission
    {
        known.caller = caller.name
        let target = try RawTarget(path: head.rawPath, query: head.rawQuery)
        let route: Route
        switch Route.match(method: head.method, segments: target.segments) {
        case .nothing: throw .notFound
        case .otherMethods(let allow): throw .methodNotAllowed(allow)
        case .route(let found): route = found
        }
        known.route = route.pattern
        try caller.hold(against: route)
        let form = try form(of: route, head.headers)
        if expectsBody(route, head), !(MediaTypes.isJSON(head.headers) && MediaTypes.isUncoded(head.headers)) {
            throw .unsupportedMediaType
        }
        return Admission(caller: caller, route: route, target: target, form: form)
    }

    /// Whether a body must come, or comes where it may.
    private func expectsBody(_ route: Route, _ head: HTTPRequestHead) -> Bool {
        switch route.body {
        case .none: false
        case .optional: head.bodyLength != .none && head.bodyLength != .bytes(0)
        case .required: true
        }
    }

    private func form(of route: Route, _ headers: HTTPHeaders) throws(Problem) -> String {
        guard let forms = route.forms else {
            guard MediaTypes.acceptsJSON(headers) else { throw .notAcceptable }
            return "application/json"
        }
        guard let form = MediaTypes.best(of: forms, for: headers) else { throw .notAcceptable(forms) }
        return form
    }

    /// - Returns: nil for a user whose session takes its issuer's keys.
    private func caller(of head: HTTPRequestHead, _ peer: IPAddress?) throws(Problem) -> Caller? {
        do throws(Problem) {
            guard case .known(let caller) = try callers.finding(in: head.headers) else { return nil }
            return caller
        } catch {
            if error.status == 401 { try limits.countFailedLogin(from: peer) }
            throw error
        }
    }

    @inline(never)
    private func session(of head: HTTPRequestHead, _ peer: IPAddress?) async throws(Problem) -> Caller {
        do throws(Problem) {
            switch try callers.finding(in: head.headers) {
            case .known(let caller): return caller
            case .session(let token): return try await callers.caller(of: token)
            }
        } catch {
            if error.status == 401 { try limits.countFailedLogin(from: peer) }
            throw error
        }
    }

    // MARK: The work

    private func perform(_ admission: Admission, _ request: HTTPRequest, _ context: RequestContext)
        async throws(Problem) -> HTTPResponse
    {
        try limits.countRequest(of: admission.caller.name)
        let caller = CallerIdentity(name: admission.caller.name, requestID: context.requestID)
        let target = admission.target
        let user = admission.caller.user
        if let user { try await hold(user, admission) }
        switch admission.route {
        case .createConsent:
            let showsProfile = admission.caller.seesProfiles
            return try await create(
                request.body, target, caller, user?.subject, showsProfile: showsProfile, context)
        case .listConsents:
            return try await list(ListQuery(target, of: user?.subject), context)
        case .consent(let id):
            return try await read(id, context)
        case .withdraw(let id):
            return try await withdraw(id, caller, context)
        case .profile(let id):
            // A person's page that is loaded again and again must not become as many calls of the provider.
            let least: Int64 = user == nil ? 0 : 60
            return try await profile(id, maxAge: target.seconds("max_age", atLeast: least), caller, context)
        case .refresh(let id):
            return try await refresh(id, caller, context)
        case .accessToken(let id):
            return try await accessToken(id, AccessTokenBody(request.body), caller, context)
        case .events(let id):
            return try await events(of: id, context)
        case .receipt(let id): return try await receipt(id, as: admission.form, context)
        }
    }

    /// A user names no subject, and other people's records are not there.
    @inline(never)
    private func hold(_ user: UserCaller, _ admission: Admission) async throws(Problem) {
        guard !admission.target.parameterNames.contains("subject") else { throw .subjectOfUser }
        guard let id = admission.route.consent else { return }
        do { try await calls.holdOwner(id, of: user.subject) } catch { throw Problem(error) }
    }

    // One function a call, and none inlined: the memory of a task then holds what its own call needs, not what all do.

    @inline(never)
    private func create(
        _ body: [UInt8], _ target: RawTarget, _ caller: CallerIdentity, _ owner: Subject?, showsProfile: Bool,
        _ context: RequestContext
    ) async throws(Problem) -> HTTPResponse {
        let exchange = try ExchangeBody(body, target: target).request(caller: caller, of: owner)
        do {
            let redemption = try await calls.redeem(exchange, showsProfile: showsProfile)
            return created(redemption, showsProfile: showsProfile, context)
        } catch { throw Problem(error) }
    }

    @inline(never)
    private func read(_ id: ConsentID, _ context: RequestContext) async throws(Problem) -> HTTPResponse {
        do { return record(try await calls.read(id), context) } catch { throw Problem(error) }
    }

    @inline(never)
    private func withdraw(
        _ id: ConsentID, _ caller: CallerIdentity, _ context: RequestContext
    ) async throws(Problem) -> HTTPResponse {
        do {
            return record(try await calls.withdraw(id, reason: .user, caller: caller), context)
        } catch { throw Problem(error) }
    }

    @inline(never)
    private func profile(
        _ id: ConsentID, maxAge: Duration?, _ caller: CallerIdentity, _ context: RequestContext
    ) async throws(Problem) -> HTTPResponse {
        do {
            let reading = try await calls.profile(id, maxAge: maxAge, caller: caller)
            return Answer.json(ProfileJSON.value(of: reading), context)
        } catch { throw Problem(error) }
    }

    @inline(never)
    private func refresh(
        _ id: ConsentID, _ caller: CallerIdentity, _ context: RequestContext
    ) async throws(Problem) -> HTTPResponse {
        do { return record(try await calls.refresh(id, caller: caller), context) } catch { throw Problem(error) }
    }

    @inline(never)
    private func events(of id: ConsentID, _ context: RequestContext) async throws(Problem) -> HTTPResponse {
        do {
            return Answer.json(EventJSON.list(try await calls.events(id)), context)
        } catch { throw Problem(error) }
    }

    @inline(never)
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

    @inline(never)
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

    @inline(never)
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
    @inline(never)
    private func created(_ redemption: Redemption, showsProfile: Bool, _ context: RequestContext) -> HTTPResponse {
        var json = ConsentJSON.value(of: redemption.consent, includingProfile: showsProfile)
        if redemption.isOfflineReused { json.set("offline", "reused") }
        let location = (name: "Location", value: "/v1/consents/\(redemption.consent.record.id)")
        return Answer.json(json, status: redemption.kind == .created ? 201 : 200, context, headers: [location])
    }

    // MARK: The answer

    private func answer(_ problem: Problem, _ context: RequestContext, _ known: KnownFacts, _ closes: Bool)
        -> HTTPResponse
    {
        tell(context, status: problem.status, code: problem.code, known)
        return Answer.problem(problem, context, closes: closes)
    }

    private func tell(_ context: RequestContext, status: Int, code: String?, _ known: KnownFacts) {
        let duration = time.monotonic - context.receivedAt
        measure(context, status: status, code: code, known.route ?? MetricWords.other, duration)
        let level: LogLevel = status >= 500 && status != 503 ? .warning : .info
        LogContext.$current.withValue(context.log) {
            log.write(level, "request answered") {
                [
                    Fact(.method, Route.isMethod(context.method) ? context.method : "other"),
                    Fact(.route, known.route), Fact(.status, status), Fact(.code, code),
                    Fact(.caller, known.caller), Fact(.peer, context.peer?.text),
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
