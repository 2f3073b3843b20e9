// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import ConsentStores
import ConsentUseCases
import Consents
import NativeHTTPServer
import NativeSystem
import Observability
import TestSupport
import Testing

@testable import GatewayAssembly

@Suite("Evidence that outlives its store")
struct EvidenceTests {
    /// A checkpoint before its hour; its name.
    private func checkpoint(_ gateway: TestGateway) async throws -> CheckpointName {
        let house = gateway.serving.gateway
        _ = try await house.store.beginCheckpoint(every: .zero, at: gateway.serving.place.time.now)
        // The one of the start may still be on its way to be signed by the gateway itself.
        try await house.makeCheckpoint()
        let last = try #require(try await house.store.lastCheckpoint()?.checkpoint)
        return last.name(house.evidenceKeys.sha256)
    }

    private func verify(_ gateway: TestGateway, since: CheckpointName?) async -> CommandOutput {
        let serving = gateway.serving
        return await RecordCommands(place: serving.place, gateway: serving.gateway, json: false).verify(since: since)
    }

    @Test("a store that was put back to an older copy is told by a checkpoint that was kept, and by none of its own")
    func rollback() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        try await TestGateway.inFolder(provider: script.provider.url) { folder in
            let early = try await TestGateway.living(in: folder) { gateway in
                #expect(try await gateway.post(code: "c-1", subject: "u-1").status == 201)
                return try await checkpoint(gateway)
            }
            let older = try readFile(at: folder + "/consents.db", limit: 1 << 26).bytes
            let late = try await TestGateway.living(in: folder) { try await lateCheckpoint($0) }
            try replaceFile(older, at: folder + "/consents.db", permissions: 0o600)
            try await TestGateway.living(in: folder) { gateway in
                #expect(await verify(gateway, since: nil).status == .done)
                #expect(await verify(gateway, since: early).status == .done)
                let told = await verify(gateway, since: late)
                #expect(told.status == .partlyDone)
                #expect(
                    told.text.contains(
                        "checkpoint \(late.number)  newer_than_store: the store's last one is \(early.number): "
                            + "it is older, or was cut\n"), "\(told.text)")
                try await goOn(gateway, instead: late)
            }
        }
    }

    /// More is written, and the checkpoint over it holds.
    private func lateCheckpoint(_ gateway: TestGateway) async throws -> CheckpointName {
        #expect(try await gateway.post(code: "c-2", subject: "u-2").status == 201)
        let late = try await checkpoint(gateway)
        let held = await verify(gateway, since: late)
        #expect(held.status == .done)
        #expect(
            held.text.contains(", the last \(late) of ")
                && held.text.contains("\nall that stood at checkpoint \(late) of "), "\(held.text)")
        #expect(gateway.log.text.contains("\(late)"))
        return late
    }

    /// The older copy comes to a checkpoint of the same number: another one.
    private func goOn(_ gateway: TestGateway, instead late: CheckpointName) async throws {
        #expect(try await gateway.post(code: "c-3", subject: "u-3").status == 201)
        let other = try await checkpoint(gateway)
        #expect(other.number == late.number && other != late)
        let told = await verify(gateway, since: late)
        #expect(told.status == .partlyDone)
        #expect(
            told.text.contains(
                "checkpoint \(late.number)  replaced: the store has another one of that number, \(other)\n"),
            "\(told.text)")
    }

    @Test("a gateway makes a checkpoint when it starts, and tells its age")
    func start() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            try await onOwnThread { blockUntil { gateway.log.text.contains("a checkpoint was made") } }
            #expect(gateway.log.text.contains(#""checkpoint":"1-"#) || gateway.log.text.contains("checkpoint=1-"))
            let connection = try RawConnection(port: gateway.serving.admin.port)
            try connection.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            let page = String(decoding: try await connection.readToEnd(), as: UTF8.self)
            let line = try #require(page.split(separator: "\n").last { $0.contains("checkpoint_age_seconds") })
            let age = try #require(line.split(separator: " ").last.flatMap { Double($0) }, "\(line)")
            #expect((0..<60).contains(age), "it is told in seconds, since a moment ago")
        }
    }
}
