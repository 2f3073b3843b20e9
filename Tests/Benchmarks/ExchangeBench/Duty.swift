// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeCrypto
import NativeEventLoop
import NativeHTTPServer
import NativeJSON
import NativeSQLite
import NativeSystem
import Observability

@testable import ConsentStores

/// The floor, the same bodies through jansson, and as many durable commits of rows of the same sizes through the same
/// writer: what no implementation on these libraries can leave out. No validation, no sealing, no digests, no indexes
/// but the primary keys, no events' chain, no log, no metrics.
struct Duty: HTTPHandler {
    private let calls: ProviderCalls
    private let writer: SQLWriter
    private let sizes: [Int]

    init(loops: EventLoopGroup, _ options: [String: String]) throws {
        calls = try ProviderCalls(loops: loops, options)
        guard let place = options["store"], let rows = options["rows"] else { throw UsageError() }
        sizes = rows.split(separator: ",").compactMap { Int($0) }
        guard sizes.count == 4 else { throw UsageError() }
        writer = try DutyStore(place, pool: Int(options["pool"] ?? "8") ?? 8).writer
    }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
        do {
            let asked = try JSONValue.parse(request.body, as: .callers)
            guard asked.kind == .object else { return HTTPResponse(status: 400) }
            let digest = randomBytes(32)
            try await write(DutyQueries.reserve, digest, sizes[0])
            guard let tokens = await calls.exchange(),
                let granted = try JSONValue.parse(tokens, as: .providers)["access_token"]?.string
            else { return HTTPResponse(status: 502) }
            try await write(
                DutyQueries.keep, [UInt8](repeating: UInt8(granted.utf8.count & 0xFF), count: sizes[1]), digest)
            guard let person = await calls.person(), let claims = try? JSONValue.parse(person, as: .providers) else {
                return HTTPResponse(status: 502)
            }
            try await settle(digest)
            return HTTPResponse(
                status: 201, headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")],
                body: record(claims).serialized(.compact))
        } catch {
            return HTTPResponse(status: 500)
        }
    }

    private func write(_ query: SQLQuery, _ digest: [UInt8], _ size: Int) async throws {
        try await write(query, digest, [UInt8](repeating: 7, count: size))
    }

    private func write(_ query: SQLQuery, _ first: [UInt8], _ second: [UInt8]) async throws {
        _ = try await writer.write(.finishes) { connection throws(SQLError) in
            try connection.run(query, first, second)
        }
    }

    private func settle(_ digest: [UInt8]) async throws {
        let now = UInt64(wallClockMilliseconds())
        let id = UUIDv7(milliseconds: now, random: (UInt64.random(in: 0...(.max)), UInt64.random(in: 0...(.max)))).bytes
        let (consent, event) = ([UInt8](repeating: 8, count: sizes[2]), [UInt8](repeating: 9, count: sizes[3]))
        let reserved = [UInt8](repeating: 7, count: sizes[0])
        _ = try await writer.write(.finishes) { connection throws(SQLError) in
            try connection.run(DutyQueries.consent, id, consent)
            try connection.run(DutyQueries.event, id, event)
            try connection.run(DutyQueries.keep, reserved, digest)
        }
    }

    /// As many members as the gateway's answer has.
    private func record(_ claims: JSONValue) -> JSONValue {
        var object = JSONValue.object()
        for name in Duty.members { object.set(name, "0123456789abcdefghijklmn") }
        var scopes = JSONValue.object()
        for name in ["requested", "granted"] {
            scopes.set(name, ["openid", "profile", "email", "address", "phone"] as JSONValue)
        }
        object.set("scopes", scopes)
        object.set("profile", claims)
        return object
    }

    private static let members = [
        "id", "provider", "environment", "subject", "provider_subject", "status", "status_reason", "superseded_by",
        "profile_status", "profile_fetched_at", "access_token_expires_at", "refreshable", "last_refreshed_at",
        "next_refresh_at", "refresh_failures", "client", "notice", "created_at", "updated_at",
    ]
}

private enum DutyQueries {
    static let reserve = SQLQuery("INSERT INTO reservations (digest, content) VALUES (?, ?)")
    static let keep = SQLQuery("UPDATE reservations SET content = ? WHERE digest = ?")
    static let consent = SQLQuery("INSERT INTO consents (id, content) VALUES (?, ?)")
    static let event = SQLQuery("INSERT INTO events (id, content) VALUES (?, ?)")
}
