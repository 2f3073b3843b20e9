// SPDX-License-Identifier: Apache-2.0
import NativeEventLoop
import NativeHTTPServer
import NativeSystem

/// What a benchmark of exchanges is held against: a provider that costs next to nothing, and servers that do the least
/// that an exchange can do.
///
///     exchange-bench provider [--delay MILLISECONDS] [--counts on] [--certificate FILE --key FILE]
///     exchange-bench floor --provider URL [--ca FILE]
///     exchange-bench duty --provider URL [--ca FILE] --store FILE --rows RESERVED,KEPT,CONSENT,EVENT
///
/// Each prints its URL and works until it is killed. The store of a duty may be `postgres://…` too, a database that
/// nothing else uses, with `--pool N` connections as a gateway has them. And what refreshes are held against, each of
/// which ends by itself:
///
///     exchange-bench refresh-duty --provider URL --store FILE --rows CONSENT,EVENT [--count N] [--concurrency N]
///     exchange-bench due-claims --store FILE --provider NAME [--environment NAME] [--count N] [--rounds N]
@main
enum Bench {
    static func main() async throws {
        var arguments = CommandLine.arguments.dropFirst()
        guard let role = arguments.popFirst() else { throw UsageError() }
        var options: [String: String] = [:]
        while let name = arguments.popFirst(), let value = arguments.popFirst() {
            options[String(name.drop { $0 == "-" })] = value
        }
        _ = try raiseFileLimit(atLeast: 30_000)
        let loops = try EventLoopGroup.start(name: "loop", count: max(1, processorCount()))
        switch role {
        case "due-claims": return try await DueClaims(options).run(rounds: Int(options["rounds"] ?? "20") ?? 20)
        case "refresh-duty": return try await RefreshDuty(loops: loops, options).run()
        default: break
        }
        let identity: TLSIdentity? =
            if let certificate = options["certificate"] { try Bench.identity(certificate, options["key"]) } else { nil }
        let handler: any HTTPHandler =
            switch role {
            case "provider":
                Provider(
                    loops: loops, delay: .milliseconds(Int(options["delay"] ?? "0") ?? 0),
                    presented: options["counts"] == "on" ? Presented() : nil)
            case "floor": try Floor(loops: loops, options)
            case "duty": try Duty(loops: loops, options)
            default: throw UsageError()
            }
        let limits = HTTPServerOptions.Limits(
            bodyBytes: 1 << 16, headBytes: 1 << 14, connections: 20_000, headTimeout: .seconds(10),
            bodyTimeout: .seconds(20), idleTimeout: .seconds(60))
        let server = try await HTTPServer.start(
            on: loops, options: HTTPServerOptions(host: "127.0.0.1", port: 0, limits: limits, identity: identity),
            handler: handler)
        OutputStream.standardOutput.write("\(identity == nil ? "http" : "https")://127.0.0.1:\(server.port)\n")
        while true { try await Task.sleep(for: .seconds(3600)) }
    }

    private static func identity(_ certificate: String, _ key: String?) throws -> TLSIdentity {
        try TLSIdentity(
            certificate: try readFile(at: certificate, limit: 1 << 20).bytes,
            privateKey: try readFile(at: key ?? "", limit: 1 << 20).bytes)
    }
}

struct UsageError: Error {}

extension HTTPHandler {
    func admit(_ head: inout HTTPRequestHead) -> HTTPResponse? { nil }
    func refusal(_ refusal: HTTPRefusal, head: HTTPRequestHead?) -> HTTPResponse { HTTPResponse(status: 503) }
}
