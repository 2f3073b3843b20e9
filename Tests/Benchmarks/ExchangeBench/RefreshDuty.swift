// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeCrypto
import NativeEventLoop
import NativeJSON
import NativeSQLite
import NativeSystem
import Observability

@testable import ConsentStores

/// The least that refreshes can do on these libraries: a claim and a save as durable commits of rows of the same sizes
/// through the same writer, the provider's call, its answer through jansson. No sealing, no index but the primary keys,
/// no events' chain, no log, no metrics.
///
/// Fills its store, prints `filled`, refreshes each row once, so many at a time, and prints `done`.
struct RefreshDuty {
    private let calls: ProviderCalls
    private let writer: SQLWriter
    private let loops: EventLoopGroup
    private let (consentSize, eventSize): (Int, Int)
    private let (count, concurrency): (Int, Int)

    init(loops: EventLoopGroup, _ options: [String: String]) throws {
        guard let place = options["store"], let rows = options["rows"] else { throw UsageError() }
        let sizes = rows.split(separator: ",").compactMap { Int($0) }
        guard sizes.count == 2 else { throw UsageError() }
        (consentSize, eventSize) = (sizes[0], sizes[1])
        count = Int(options["count"] ?? "10000") ?? 10_000
        concurrency = Int(options["concurrency"] ?? "64") ?? 64
        self.loops = loops
        calls = try ProviderCalls(loops: loops, options)
        writer = try DutyStore(place, pool: Int(options["pool"] ?? "8") ?? 8).writer
    }

    func run() async throws {
        let identifiers = (0..<count).map { _ in BenchTime.identifier().bytes }
        for begin in stride(from: 0, to: count, by: 500) {
            let part = Array(identifiers[begin..<min(begin + 500, count)])
            let content = [UInt8](repeating: 7, count: consentSize)
            _ = try await writer.write(.finishes) { connection throws(SQLError) in
                for id in part { try connection.run(RefreshDutyQueries.fill, id, content) }
                return 0
            }
        }
        OutputStream.standardOutput.write("filled\n")
        try await refreshAll(identifiers)
        OutputStream.standardOutput.write("done\n")
    }

    private func refreshAll(_ identifiers: [[UInt8]]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            var begun = 0
            for id in identifiers {
                if begun >= concurrency { try await group.next() }
                begun += 1
                group.addTask(executorPreference: loops.next()) { try await refresh(id) }
            }
            try await group.waitForAll()
        }
    }

    private func refresh(_ id: [UInt8]) async throws {
        let claimed = [UInt8](repeating: 8, count: consentSize)
        _ = try await writer.write(.starts) { connection throws(SQLError) in
            try connection.run(RefreshDutyQueries.change, claimed, id)
        }
        guard let tokens = await calls.refresh(),
            let granted = try JSONValue.parse(tokens, as: .providers)["access_token"]?.string
        else { throw UsageError() }
        let (saved, event) = ([UInt8](repeating: UInt8(granted.utf8.count & 0xFF), count: consentSize), eventSize)
        let eventID = BenchTime.identifier().bytes
        _ = try await writer.write(.finishes) { connection throws(SQLError) in
            try connection.run(RefreshDutyQueries.change, saved, id)
            try connection.run(RefreshDutyQueries.event, eventID, [UInt8](repeating: 9, count: event))
        }
    }
}

private enum RefreshDutyQueries {
    static let fill = SQLQuery("INSERT INTO consents (id, content) VALUES (?, ?)")
    static let change = SQLQuery("UPDATE consents SET content = ? WHERE id = ?")
    static let event = SQLQuery("INSERT INTO events (id, content) VALUES (?, ?)")
}
