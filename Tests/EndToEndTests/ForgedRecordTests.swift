// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Consents
import NativeCurl
import NativeSQLite
import NativeSystem
import TestSupport
import Testing

@testable import GatewayAssembly

/// Somebody writes into the columns of a record, behind the program's back: the chain of its events holds, and the
/// record no longer says what it says.
@Suite("Records that were forged under a true chain")
struct ForgedRecordTests {
    private func with(_ body: (TestGateway, [String]) async throws -> Void) async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        let notices = """
            notices:
              - { id: signup, version: "3", controller: Shop, privacy_policy: "https://shop.example/privacy",
                  purposes: [Account], jurisdiction: DE }
            """
        try await TestGateway.with(provider: script.provider.url, sections: notices) { gateway in
            var ids: [String] = []
            for subject in ["user-1", "user-2"] {
                let made = try await gateway.post(code: "c-\(subject)", subject: subject, query: "&notice=signup@3")
                ids.append(try #require(made.id))
            }
            _ = try await gateway.refresh(ids[0])
            try await body(gateway, ids)
        }
    }

    private func execute(_ statement: String, in gateway: TestGateway) throws {
        let connection = try SQLiteConnection(
            path: gateway.folder + "/consents.db", access: .readWrite, busyTimeout: 10_000)
        try connection.execute(statement)
    }

    private func verify(_ gateway: TestGateway, json: Bool = false) async -> CommandOutput {
        let serving = gateway.serving
        return await RecordCommands(place: serving.place, gateway: serving.gateway, json: json).verify(since: nil)
    }

    private func hexadecimal(_ id: String) throws -> String {
        Hexadecimal.text(of: try #require(ConsentID(id)).uuid.bytes)
    }

    @Test(
        "verify names the record and the field, and no receipt is made of it",
        arguments: [
            (
                "granted_scopes = 'openid admin', notice = 'evil@9', status = 'revoked', status_reason = 'user'",
                ["status", "status_reason", "granted_scopes", "notice"]
            ),
            ("requested_scopes = 'openid'", ["requested_scopes"]), ("provider = 'acme'", ["provider"]),
            ("environment = 'live'", ["environment"]), ("app_product_name = 'Other'", ["app_product_name"]),
            ("created_at = created_at - 1", ["created_at"]), ("notice = NULL", ["notice"]),
            ("notice_is_assumed = 1", ["notice_is_assumed"]),
            ("access_token_expires_at = access_token_expires_at + 1", ["access_token_expires_at"]),
            ("superseded_by = (SELECT id FROM consents LIMIT 1)", ["superseded_by"]),
            ("erased_at = 1", ["erased_at"]), ("key_sealed = NULL", ["key_sealed"]),
            (
                "subject_sealed = (SELECT subject_sealed FROM consents ORDER BY id DESC LIMIT 1)",
                ["subject_sealed"]
            ),
            ("subject_index = x'00'", ["subject_index"]),
            ("provider_subject_sealed = NULL, provider_subject_index = NULL", ["provider_subject_sealed"]),
        ])
    func forged(_ change: String, _ fields: [String]) async throws {
        try await with { gateway, ids in
            let before = await verify(gateway)
            #expect(before.status == .done, "\(before.text)")
            try execute("UPDATE consents SET \(change) WHERE id = x'\(try hexadecimal(ids[0]))'", in: gateway)
            let report = await verify(gateway)
            #expect(report.status == .partlyDone)
            for field in fields {
                let line = "record_differs: the record's \(field) is not what the chain tells\n"
                #expect(
                    report.text.split(separator: "\n", omittingEmptySubsequences: false).contains { found in
                        found.hasPrefix("\(ids[0])  event ") && (found + "\n").hasSuffix(line)
                    }, "\(field): \(report.text)")
            }
            #expect(report.text.contains("every chain holds, 1 record differs from its chain\n"), "\(report.text)")
            #expect(await verify(gateway, json: true).text.contains(#""field": "\#(fields[0])""#))
            for accept in ["application/json", "application/jwt"] {
                let path = "/v1/consents/\(ids[0])/receipt"
                let answer = try await gateway.exchange(.get, path, headers: [("Accept", accept)])
                // Of a record that says that it was erased nothing is handed out at all.
                #expect(answer.status == (fields == ["erased_at"] ? 404 : 500), "\(change)")
                let other = try await gateway.exchange(
                    .get, "/v1/consents/\(ids[1])/receipt", headers: [("Accept", accept)])
                #expect(other.status == 200)
            }
        }
    }

    @Test(
        "the salts behind an event's digests are missed, and known from another event's",
        arguments: ["NULL", "(SELECT personal_sealed FROM events WHERE consent_id = x'ID' AND seq = 1)"])
    func personal(_ value: String) async throws {
        try await with { gateway, ids in
            let (first, second) = (try hexadecimal(ids[0]), try hexadecimal(ids[1]))
            try execute(
                "UPDATE events SET personal_sealed = \(value.replacing("ID", with: second)) "
                    + "WHERE consent_id = x'\(first)' AND seq = 1", in: gateway)
            let report = await verify(gateway)
            #expect(report.status == .partlyDone)
            #expect(
                report.text.contains(
                    "\(ids[0])  event 1  record_differs: the record's personal_sealed is not what the chain tells\n"),
                "\(report.text)")
        }
    }

    @Test("a chain that is copied to another record is none of its own")
    func copied() async throws {
        try await with { gateway, ids in
            let (first, second) = (try hexadecimal(ids[0]), try hexadecimal(ids[1]))
            try execute(
                """
                DELETE FROM events WHERE consent_id = x'\(second)';
                INSERT INTO events SELECT x'\(second)', seq, type, at, canonical, mac, period, personal_sealed
                    FROM events WHERE consent_id = x'\(first)';
                UPDATE consents SET (event_count, chain_head) =
                    (SELECT event_count, chain_head FROM consents WHERE id = x'\(first)') WHERE id = x'\(second)'
                """, in: gateway)
            let report = await verify(gateway)
            #expect(report.text.contains("\(ids[1])  event 1  altered: "), "\(report.text)")
        }
    }
}
