// SPDX-License-Identifier: Apache-2.0
package import Consents
package import NativeHTTPServer
import NativeJSON
package import Observability

/// The calls of the admin listener by their paths, all of them read with GET or HEAD. `Config/openapi.yaml` describes
/// each under `x-admin`.
enum AdminRoute: String, CaseIterable {
    case alive = "/healthz"
    case ready = "/readyz"
    case metrics = "/metrics"
}

/// The admin listener: whether the program is alive, whether it can work, and what it has counted.
package struct AdminAPI: HTTPHandler {
    private let hosts: [String]
    private let isReady: @Sendable () async -> Bool
    private let metrics: MetricsPage
    private let isDraining: @Sendable () -> Bool
    private let isRefreshing: @Sendable () async -> Bool
    private let troubles: @Sendable () async -> [(provider: String, words: [String])]
    private let time: any Timekeeper
    private let entropy: any Entropy

    /// - Parameters:
    ///   - hosts: names that a request's `Host` may have, so that no web page can reach the listener by a name of its
    ///     own.
    ///   - isReady: whether store and keys can be worked with.
    ///   - isDraining: whether the program takes no more requests and is about to end.
    ///   - isRefreshing: whether refresh tokens may be sent; they may not after a copy was put in the store's place.
    ///     Requests are served all the same, so that it takes no instance from a load balancer.
    ///   - troubles: what keeps calls from providers, those alone; the store is well all the same.
    package init(
        hosts: [String], isReady: @escaping @Sendable () async -> Bool, isDraining: @escaping @Sendable () -> Bool,
        isRefreshing: @escaping @Sendable () async -> Bool,
        troubles: @escaping @Sendable () async -> [(provider: String, words: [String])], metrics: MetricsPage,
        time: any Timekeeper,
        entropy: any Entropy
    ) {
        self.hosts = hosts.map { $0.lowercased() }
        self.isReady = isReady
        self.isDraining = isDraining
        self.isRefreshing = isRefreshing
        self.troubles = troubles
        self.metrics = metrics
        self.time = time
        self.entropy = entropy
    }

    package func admit(_ head: inout HTTPRequestHead) -> HTTPResponse? { nil }

    package func respond(to request: HTTPRequest) async -> HTTPResponse {
        let context = context(of: request.head)
        guard isKnown(request.headers.firstText("Host")) else {
            return Answer.problem(
                .invalidRequest("Host: the admin listener answers to the names of server.admin_hosts only."), context)
        }
        do throws(Problem) {
            switch try route(of: request.head) {
            case .alive: return Answer.json(["status": "alive"], context)
            case .ready: return await readiness(context)
            case .metrics: return Answer.text(await metrics.text(), type: MetricsPage.contentType, context)
            }
        } catch {
            return Answer.problem(error, context)
        }
    }

    /// - Throws: `Problem` 400 for a target that cannot be decoded, 404 for a path that is not there, then 405.
    private func route(of head: HTTPRequestHead) throws(Problem) -> AdminRoute {
        let segments = try RawTarget(path: head.rawPath, query: head.rawQuery).segments
        guard segments.count == 1, let route = AdminRoute(rawValue: "/" + segments[0]) else { throw .notFound }
        guard head.method == "GET" || head.method == "HEAD" else { throw .methodNotAllowed("GET, HEAD") }
        return route
    }

    private func readiness(_ context: RequestContext) async -> HTTPResponse {
        let isStoreReady = await isReady()
        let isReady = isStoreReady && !isDraining()
        let word = isDraining() ? "draining" : isStoreReady ? "ready" : "not ready"
        var providers = JSONValue.object()
        if isStoreReady {
            for trouble in await troubles() {
                providers.set(trouble.provider, JSONValue.array(trouble.words.map { JSONValue($0) }))
            }
        }
        let answer: JSONValue = [
            "status": JSONValue(word), "store": JSONValue(isStoreReady),
            "refreshing": JSONValue(await isRefreshing() ? "on" : "stopped"),
            "providers": providers,
        ]
        return Answer.json(answer, status: isReady ? 200 : 503, context)
    }

    private func context(of head: HTTPRequestHead?) -> RequestContext {
        RequestContext(head: head, proxies: .none, entropy: entropy, time: time)
    }

    package func refusal(_ refusal: HTTPRefusal, head: HTTPRequestHead?) -> HTTPResponse {
        Answer.problem(Problem(refusal), context(of: head), closes: true)
    }

    /// Whether a `Host` field (RFC 9110, section 7.2) is one of the names, or of the addresses in brackets, with a port or
    /// without.
    private func isKnown(_ field: String?) -> Bool {
        guard let field = field?.lowercased() else { return false }
        let isBracketed = field.hasPrefix("[")
        let end = isBracketed ? field.firstIndex(of: "]") : field.firstIndex(of: ":") ?? field.endIndex
        guard let end else { return false }
        let name = isBracketed ? field[..<end].dropFirst() : field[..<end]
        let port = isBracketed ? field[end...].dropFirst() : field[end...]
        let isPort = port.first == ":" && port.utf8.dropFirst().allSatisfy { (0x30...0x39).contains($0) }
        return (port.isEmpty || isPort) && name.contains(":") == isBracketed && hosts.contains(String(name))
    }
}
