// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import ConsentStores
import ConsentUseCases
import Consents
import NativeJSON
import NativeSystem
import RefreshSchedule
import Settings
import TestSupport
import Testing

@testable import GatewayAssembly

@Suite("What is kept no longer than it may be")
struct RetentionTests {
    private func pass(_ gateway: TestGateway) async -> [RetentionStep: Int] {
        let place = gateway.serving.place
        let work = gateway.serving.gateway.backgroundWork(place) { true }
        let done = await LoopLauncher(loops: place.loops).result { await JobRun(work)().done.retention }
        return done.filter { $0.value > 0 }
    }

    private func tally(_ gateway: TestGateway) async throws -> [RetentionStep: Int] {
        let place = gateway.serving.place
        return try await gateway.serving.gateway.store.retentionTally(
            RetentionRules(place.settings.retention), at: place.time.now
        ).filter { $0.value > 0 }
    }

    private func verify(_ gateway: TestGateway, since: CheckpointName?) async throws -> VerifyLedger.Report {
        try await gateway.serving.gateway.verify(since: since)
    }

    /// A provider that refuses the refresh of one grant, and the code of one exchange.
    private static func script() throws -> PayPalScript {
        try PayPalScript { call, number, _ in
            if call == .exchange, number == 4 { return .http(400, #"{"error":"invalid_grant"}"#) }
            return call == .refresh ? .http(400, #"{"error":"invalid_grant"}"#) : nil
        }
    }

    @Test("a dry run tells what a pass then does, and every checkpoint holds when all is gone")
    func passes() async throws {
        let script = try Self.script()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            var ids: [String] = []
            for number in 1...3 {
                ids.append(try #require(try await gateway.post(code: "c-\(number)", subject: "u-\(number)").id))
            }
            #expect(try await gateway.post(code: "c-4", subject: "u-4").status == 422)
            #expect(try await gateway.raw("DELETE", "/v1/consents/\(ids[0])").status == 200)
            #expect(try await gateway.refresh(ids[1]).status == 409)
            let end = MonotonicInstant.now().advanced(by: .seconds(20))
            var revoked = 0
            while revoked < 2, MonotonicInstant.now() < end {
                revoked = try await gateway.events(ids[0]).count { $0.draft.type == .tokenRevocation }
            }
            #expect(try await tally(gateway).isEmpty)

            try await first(gateway, ids)
            let checkpoint = try await gateway.serving.gateway.makeCheckpoint().first
            try await second(gateway, ids)
            try await third(gateway)
            let report = try await verify(gateway, since: checkpoint)
            #expect(report.findings.isEmpty)
            #expect(report.checkpointFindings.isEmpty)
            #expect(try await gateway.record(ids[2]).status == 200)
        }
    }

    /// After three months the record that was withdrawn is erased, the dead grant ends, and code and revocations go.
    private func first(_ gateway: TestGateway, _ ids: [String]) async throws {
        try AgedStore.ageEnds(in: gateway.folder, byDays: 91)
        let told = try await tally(gateway)
        #expect(told == [.records: 1, .grants: 1, .codes: 1, .revocations: 2])
        #expect(await pass(gateway) == told)
        #expect(try await tally(gateway) == [.codes: 1])
        #expect(try await gateway.record(ids[0]).status == 404)
        let ended = try await gateway.record(ids[1])
        #expect(ended.json["status"]?.string == "expired")
        #expect(ended.json["status_reason"]?.string == "retention")
        let report = try await verify(gateway, since: nil)
        #expect(report.findings.isEmpty)
    }

    /// Three months later the dead grant's record is erased too, and its code with that of the first.
    private func second(_ gateway: TestGateway, _ ids: [String]) async throws {
        try AgedStore.ageEnds(in: gateway.folder, byDays: 91)
        let told = try await tally(gateway)
        #expect(told == [.records: 1, .codes: 1])
        _ = await pass(gateway)
        #expect(try await gateway.record(ids[1]).status == 404)
    }

    /// Six years later nothing tells of the two any more but where their chains ended.
    private func third(_ gateway: TestGateway) async throws {
        try AgedStore.ageEnds(in: gateway.folder, byDays: 6 * 366)
        #expect(try await tally(gateway)[.evidence] == 2)
        #expect(await pass(gateway)[.evidence] == 2)
        #expect(try await tally(gateway)[.evidence] == nil)
    }
}
