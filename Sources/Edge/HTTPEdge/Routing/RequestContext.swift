// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeHTTPServer
import NativeSystem
import Observability

/// What every answer and log line of one request has in common.
struct RequestContext: Sendable {
    /// The caller's if it is `[A-Za-z0-9._-]{1,64}`, else one of ours.
    let requestID: String
    /// The trace of the caller's W3C `traceparent`; nil without a good one.
    let traceID: String?
    let method: String
    /// Who sent it, as far as trusted proxies tell; nil where that is unknown.
    let peer: IPAddress?
    /// Monotonic, when the head was complete.
    let receivedAt: Duration

    init(head: HTTPRequestHead?, proxies: TrustedProxies, entropy: any Entropy, time: any Timekeeper) {
        let given = head?.headers.firstText("X-Request-Id")
        requestID =
            given.flatMap { RequestContext.isHarmless($0) ? $0 : nil }
            ?? entropy.identifier(at: time.now).hexadecimal
        traceID = head.flatMap { TraceParent($0.headers) }?.traceID
        peer = head.flatMap(proxies.peer)
        method = head?.method ?? ""
        receivedAt = head.map { .nanoseconds($0.receivedAt.nanoseconds) } ?? time.monotonic
    }

    /// What the log lines of this request, and of all that it begins, end with.
    var log: LogContext { LogContext(requestID: requestID, traceID: traceID) }

    private static func isHarmless(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
