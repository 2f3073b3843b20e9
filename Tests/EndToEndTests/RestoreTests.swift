// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import ConsentUseCases
import Consents
import NativeHTTPServer
import NativeJSON
import NativeSQLite
import NativeSystem
import TestSupport
import Testing

@testable import GatewayAssembly

@Suite("A store that came back from a copy")
struct RestoreTests {
    /// The first refresh rotates; who comes with the old token is refused.
    private func script() throws -> PayPalScript {
        try PayPalScript { call, number, request in
            guard call == .refresh else { return nil }
            return request.body.contains("R23AA") && number > 1
                ? .http(400, #"{"error":"invalid_grant"}"#)
                : .http(200, PayPalScript.tokens(number, refreshToken: "R\(number + 1)-canary"))
        }
    }

    @Test("it refreshes nothing until it is accepted; what was withdrawn is withdrawn again, each grant is tried once")
    func restored() async throws {
        let script = try script()
        defer { script.provider.stop() }
        try await TestGateway.inFolder(provider: script.provider.url) { folder in
            let (kept, withdrawn) = try await firstLife(in: folder)
            try putBack(in: folder)
            try await TestGateway.living(in: folder) { gateway in
                #expect(try await refreshing(of: gateway) == "stopped")
                let refused = try await gateway.refresh(kept)
                #expect(refused.status == 503 && refused.code == "provider_unavailable")
                #expect(script.count(of: .refresh) == 1)
                #expect(try await gateway.record(withdrawn).json["status"]?.string == "active", "the copy's word")
                #expect(try await gateway.post(code: "new", subject: "somebody").status == 201)
                try await accept(gateway, withdrawn: withdrawn)
                #expect(try await refreshing(of: gateway) == "on")
                #expect(try await gateway.record(withdrawn).json["status_reason"]?.string == "user")
                let gone = try await gateway.refresh(kept)
                #expect(gone.code == "reauthorization_required")
                #expect(try await gateway.record(kept).json["status_reason"]?.string == "restored_backup")
                #expect(script.count(of: .refresh) == 2)
            }
            try await TestGateway.living(in: folder) { gateway async throws in
                #expect(try await refreshing(of: gateway) == "on")
                let found = try await gateway.serving.gateway.restore()
                #expect(found.missing.isEmpty)
                // Where there is nothing to accept nothing is tried once more.
                let output = await RestoreCommands.accept(gateway.serving.gateway, json: false)
                #expect(output.status == .done && output.text.contains("nothing to accept"))
                let now = try await gateway.serving.gateway.restore()
                #expect(now.store?.epoch.incarnation == found.store?.epoch.incarnation)
            }
        }
    }

    @Test("a store of another kind is told: none is noted, it is an empty one, or an older one")
    func others() async throws {
        let script = try script()
        defer { script.provider.stop() }
        try await TestGateway.inFolder(provider: script.provider.url) { folder in
            _ = try await firstLife(in: folder)
            try removeFile(at: folder + "/epoch")
            try await TestGateway.living(in: folder) { gateway async throws in
                #expect(try await refreshing(of: gateway) == "on")
                #expect(gateway.log.text.contains("has no note of the store's epoch"))
            }
            for name in ["consents.db", "consents.db-wal", "consents.db-shm"] {
                try removeFile(at: "\(folder)/\(name)")
            }
            try await TestGateway.living(in: folder) { gateway async throws in
                #expect(try await refreshing(of: gateway) == "stopped")
            }
            // The one that was noted is known again where it comes back, and no other.
            try putBack(in: folder)
            let word = try await TestGateway.living(in: folder) { try await refreshing(of: $0) }
            #expect(word == "stopped")
        }
    }

    /// Two consents, a copy of them; then one is refreshed and the other is withdrawn.
    private func firstLife(in folder: String) async throws -> (kept: String, withdrawn: String) {
        try await TestGateway.living(in: folder) { gateway in
            let kept = try #require(try await gateway.post(code: "c", subject: "u").id)
            let withdrawn = try #require(try await gateway.post(code: "d", subject: "v").id)
            let store = try SQLiteConnection(path: folder + "/consents.db", access: .readOnly, busyTimeout: 1000)
            try store.execute("VACUUM INTO '\(folder)/copy.db'")
            #expect(try await gateway.refresh(kept).status == 200)
            #expect(try await gateway.raw("DELETE", "/v1/consents/\(withdrawn)").status == 200)
            return (kept, withdrawn)
        }
    }

    private func putBack(in folder: String) throws {
        for name in ["consents.db", "consents.db-wal", "consents.db-shm"] { try removeFile(at: "\(folder)/\(name)") }
        let copy = try readFile(at: folder + "/copy.db", limit: 1 << 24).bytes
        try createFile(copy, at: folder + "/consents.db", permissions: 0o600)
    }

    private func accept(_ gateway: TestGateway, withdrawn: String) async throws {
        let restore = gateway.serving.gateway.restore
        let report = try await restore()
        #expect(report.isBehind && report.missing.map(\.id.description) == [withdrawn])
        let accepted = try await restore.accept(
            report, caller: CallerIdentity(name: "command line", requestID: nil))
        #expect(accepted.failed.isEmpty && accepted.withdrawn.map(\.description) == [withdrawn])
        // What the next step of the clock would find.
        try await gateway.serving.gateway.epoch.begin()
    }

    private func refreshing(of gateway: TestGateway) async throws -> String? {
        let connection = try RawConnection(port: gateway.serving.admin.port)
        try connection.send("GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        let text = String(decoding: try await connection.readToEnd(), as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 200 "), "\(text)")
        return text.split(separator: "\"refreshing\":\"").last?.split(separator: "\"").first.map(String.init)
    }
}
