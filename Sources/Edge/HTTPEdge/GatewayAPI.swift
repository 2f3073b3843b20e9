// SPDX-License-Identifier: Apache-2.0
package import ConsentUseCases
package import Consents
package import NativeHTTPServer
import NativeJSON
package import Observability
import RecordRendering

/// The API listener: names the caller, finds the call, and makes an answer of what it comes to.
package struct GatewayAPI: HTTPHandler {
    private let callers: CallerDirectory
    private let redeem: RedeemCode
    private let read: ReadConsent
    private let refresh: RefreshConsent
    private let time: any Timekeeper
    private let entropy: any Entropy
    private let log: Log

    package init(
        callers: CallerDirectory, redeem: RedeemCode, read: ReadConsent, refresh: RefreshConsent,
        time: any Timekeeper, entropy: any Entropy, log: Log
    ) {
        self.callers = callers
        self.redeem = redeem
        self.read = read
        self.refresh = refresh
        self.time = time
        self.entropy = entropy
        self.log = log
    }

    package func admit(_ head: HTTPRequestHead) -> HTTPResponse? {
        // Without a body there is nothing to spare: `respond` makes the same checks.
        guard head.bodyLength != .none else { return nil }
        do throws(Problem) {
            _ = try admission(of: head)
            return nil
        } catch {
            return answer(error, RequestContext(head: head, entropy: entropy, time: time), nil, false)
        }
    }

    package func respond(to request: HTTPRequest) async -> HTTPResponse {
        let context = RequestContext(head: request.head, entropy: entropy, time: time)
        var admitted: Admission?
        do throws(Problem) {
            let admission = try admission(of: request.head)
            admitted = admission
            let response = try await perform(admission, request, context)
            tell(context, status: response.status, code: nil, admission)
            return response
        } catch {
            return answer(error, context, admitted, false)
        }
    }

    package func refusal(_ refusal: HTTPRefusal, head: HTTPRequestHead?) -> HTTPResponse {
        answer(Problem(refusal), RequestContext(head: head, entropy: entropy, time: time), nil, true)
    }

    // MARK: Before the work

    /// A caller who may make this call.
    private struct Admission {
        let key: APIKey
        let route: Route
        let target: RawTarget
    }

    /// Authentication before anything else; then the path, the method, the scope and the media types.
    private func admission(of head: HTTPRequestHead) throws(Problem) -> Admission {
        let key = try callers.caller(of: head.headers)
        let target = try RawTarget(path: head.rawPath, query: head.rawQuery)
        let route: Route
        switch Route.match(method: head.method, segments: target.segments) {
        case .nothing: throw .notFound
        case .otherMethods(let allow): throw .methodNotAllowed(allow)
        case .route(let found): route = found
        }
        guard key.scopes.contains(route.scope) else { throw .insufficientScope(route.scope) }
        guard MediaTypes.acceptsJSON(head.headers) else { throw .notAcceptable }
        if route.needsBody, !(MediaTypes.isJSON(head.headers) && MediaTypes.isUncoded(head.headers)) {
            throw .unsupportedMediaType
        }
        return Admission(key: key, route: route, target: target)
    }

    // MARK: The work

    private func perform(_ admission: Admission, _ request: HTTPRequest, _ context: RequestContext)
        async throws(Problem) -> HTTPResponse
    {
        let caller = CallerIdentity(name: admission.key.name, requestID: context.requestID)
        switch admission.route {
        case .createConsent:
            let exchange = try ExchangeBody(request.body, target: admission.target).request(caller: caller)
            do { return created(try await redeem(exchange), admission, context) } catch { throw Problem(error) }
        case .consent(let id):
            do { return record(try await read(id), context) } catch { throw Problem(error) }
        case .refresh(let id):
            do { return record(try await refresh(id, caller: caller), context) } catch { throw Problem(error) }
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
        let level: LogLevel = status >= 500 && status != 503 ? .warning : .info
        log.write(level, "request answered") {
            [
                Fact(.method, Route.isMethod(context.method) ? context.method : "other"),
                Fact(.route, admission?.route.pattern), Fact(.status, status), Fact(.code, code),
                Fact(.caller, admission?.key.name), Fact(.durationMilliseconds, time.monotonic - context.receivedAt),
                Fact(.requestID, context.requestID), Fact(.traceID, context.traceID),
            ]
        }
    }
}
