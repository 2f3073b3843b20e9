// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeSystem

@testable import HTTPEdge
@testable import NativeHTTPServer

/// What holds for every request's head. An input is the method, the target and header lines, a line each.
enum PathProperties {
    private static let methods = ["GET", "HEAD", "POST", "DELETE"]
    private static let forms = ReceiptForm.allCases.map(\.rawValue)
    private static let proxies = TrustedProxies(["127.0.0.0/8", "::1", "10.0.0.0/8"].compactMap(IPNetwork.init))
    private static let loopback = PeerAddress(text: "127.0.0.1", bytes: [127, 0, 0, 1], port: 4711)

    static func check(_ input: [UInt8], _ breaches: inout Breaches) {
        let lines = input.split(separator: 0x0A, omittingEmptySubsequences: false)
        let method = String(decoding: lines[0], as: UTF8.self)
        let headers = headers(lines.dropFirst(2))
        if lines.count > 1 { checkTarget(Array(lines[1]), method, &breaches) }
        checkMediaTypes(headers, &breaches)
        checkTrace(headers, &breaches)
        checkPeer(headers, &breaches)
    }

    private static func headers(_ lines: ArraySlice<ArraySlice<UInt8>>) -> HTTPHeaders {
        var bytes: [UInt8] = []
        var places: [HTTPHeaders.Line] = []
        for line in lines {
            let (name, value) = InputText.field(line)
            let start = bytes.count
            bytes += name
            let middle = bytes.count
            bytes += value
            places.append(HTTPHeaders.Line(name: start..<middle, value: middle..<bytes.count))
        }
        return HTTPHeaders(bytes: bytes, lines: places)
    }

    // MARK: Target and route

    private static func checkTarget(_ raw: [UInt8], _ method: String, _ breaches: inout Breaches) {
        let mark = raw.firstIndex(of: UInt8(ascii: "?"))
        let path = Array(raw[..<(mark ?? raw.endIndex)])
        let query = mark.map { Array(raw[($0 + 1)...]) }
        let target: RawTarget
        do throws(Problem) { target = try RawTarget(path: path, query: query) } catch {
            RequestProperties.check(error, &breaches)
            return
        }
        let texts = target.segments + target.parameterNames
        breaches.expect(
            !texts.contains { $0.utf8.contains { $0 < 0x20 || $0 == 0x7F } }, "a decoded path holds a control character"
        )
        let encoded = target.segments.flatMap { segment -> [UInt8] in
            [0x2F] + Spelling.percentEncoded(segment.utf8, keeping: "-._~")
        }
        let again = try? RawTarget(path: encoded, query: query)
        breaches.expect(again == target, "a path that was decoded and encoded again is another one")
        for name in Set(target.parameterNames) {
            guard let value = try? target.parameter(name) else { continue }
            let pair = [name, value].map { Spelling.percentEncoded($0.utf8, keeping: "-._~") }
            let read = try? RawTarget(path: path, query: pair[0] + [0x3D] + pair[1]).parameter(name)
            breaches.expect(read == value, "a parameter that was decoded and encoded again is another one")
        }
        checkRoute(target, method, encoded, &breaches)
    }

    private static func checkRoute(
        _ target: RawTarget, _ method: String, _ encoded: [UInt8], _ breaches: inout Breaches
    ) {
        switch Route.match(method: method, segments: target.segments) {
        case .route(let route):
            breaches.expect(methods.contains(method), "\(method) has a route")
            let path = Route.patterns.contains(route.pattern) ? spelled(route) : ""
            breaches.expect(path.utf8.elementsEqual(encoded), "a path routes to \(path), and is another one")
        case .otherMethods(let allow):
            let allowed = allow.split(separator: ",").map { $0.filter { $0 != " " } }
            breaches.expect(!allowed.isEmpty && !allowed.contains(method), "\(method) is not allowed, only \(allow)")
            for other in allowed {
                guard case .route = Route.match(method: other, segments: target.segments) else {
                    breaches.expect(false, "\(other) is allowed and has no route")
                    continue
                }
            }
        case .nothing:
            let others = methods.map { Route.match(method: $0, segments: target.segments) }
            breaches.expect(others.allSatisfy { $0 == .nothing }, "a path is there for one method and not for another")
        }
    }

    private static func spelled(_ route: Route) -> String {
        let id: ConsentID? =
            switch route {
            case .createConsent, .listConsents: nil
            case .consent(let id), .withdraw(let id), .profile(let id), .refresh(let id), .accessToken(let id),
                .events(let id), .receipt(let id):
                id
            }
        let segments = route.pattern.split(separator: "/").map { $0 == "{id}" ? id?.description ?? "" : String($0) }
        return "/" + segments.joined(separator: "/")
    }

    // MARK: Header fields

    private static func checkMediaTypes(_ headers: HTTPHeaders, _ breaches: inout Breaches) {
        let best = MediaTypes.best(of: forms, for: headers)
        breaches.expect(best.map(forms.contains) ?? true, "a form was chosen that nobody offers")
        if headers.count(of: "Accept") == 0 {
            breaches.expect(best == forms[0], "without a wish there is another form than the usual")
            breaches.expect(MediaTypes.acceptsJSON(headers), "without a wish there is no JSON")
        }
        if headers.count(of: "Content-Type") != 1 {
            breaches.expect(!MediaTypes.isJSON(headers), "a body without one type is JSON")
        }
        if headers.count(of: "Content-Encoding") == 0 {
            breaches.expect(MediaTypes.isUncoded(headers), "a body without a coding is coded")
        }
        for form in forms where best != nil {
            // Whatever is accepted now is accepted if everything is.
            let wider = HTTPHeaders([("Accept", form)])
            breaches.expect(MediaTypes.best(of: forms, for: wider) == form, "a form's own name does not choose it")
        }
    }

    private static func checkTrace(_ headers: HTTPHeaders, _ breaches: inout Breaches) {
        guard let trace = TraceParent(headers) else { return }
        let id = trace.traceID
        breaches.expect(headers.count(of: "traceparent") == 1, "one of two traces was taken")
        breaches.expect(
            id.utf8.count == 32 && id.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
                && id.utf8.contains { $0 != 0x30 },
            "a trace's identifier is none: \(id)")
        let again = TraceParent(Array("00-\(id)-00f067aa0ba902b7-01".utf8)[...])
        breaches.expect(again == trace, "a trace that was read and written again is another one")
    }

    private static func checkPeer(_ headers: HTTPHeaders, _ breaches: inout Breaches) {
        let head = HTTPRequestHead(
            method: "GET", rawPath: [0x2F], headers: headers, peer: loopback,
            receivedAt: MonotonicInstant(nanoseconds: 1))
        let own = IPAddress(bytes: loopback.bytes)
        breaches.expect(TrustedProxies.none.peer(of: head) == own, "a stranger's word for its peer was taken")
        guard let peer = proxies.peer(of: head) else {
            breaches.expect(false, "a peer was lost")
            return
        }
        breaches.expect(IPAddress(peer.text) == peer, "an address that was read and written again is another one")
        if headers.count(of: "X-Forwarded-For") == 0 { breaches.expect(peer == own, "a peer came from nowhere") }
        // A trusted proxy in front of the same chain changes nothing.
        let longer = headers.fields.map { field in
            (String(decoding: field.name, as: UTF8.self), String(decoding: field.value, as: UTF8.self))
        }
        guard longer.allSatisfy({ !$0.1.unicodeScalars.contains("\u{FFFD}") }) else { return }
        let front = HTTPRequestHead(
            method: "GET", rawPath: [0x2F], headers: HTTPHeaders(longer + [("X-Forwarded-For", "10.1.2.3:80")]),
            peer: loopback, receivedAt: MonotonicInstant(nanoseconds: 1))
        let expected =
            headers.count(of: "X-Forwarded-For") == 0 || peer == own ? [peer, IPAddress("10.1.2.3")] : [peer]
        breaches.expect(expected.contains(proxies.peer(of: front)), "one more trusted proxy changed the peer")
    }
}
