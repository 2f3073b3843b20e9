// SPDX-License-Identifier: Apache-2.0
import Lifecycle
import NativeSystem
import TestSupport
import Testing

@Suite struct ServiceGroupTests {
    private let journal = Journal()

    /// A group of services of those names, whose time passes only where a test says so.
    private func group(_ services: [RecordedService], time: Gate = Gate()) -> ServiceGroup {
        ServiceGroup(
            services, grace: .seconds(75), stopLimit: .seconds(5),
            sleep: { [journal] limit in
                await time.wait()
                journal.add("slept \(limit.components.seconds)")
            }, tell: { [journal] in journal.add("\($0)") })
    }

    private func service(_ name: String, failing: Bool = false, draining: Gate? = nil, stopping: Gate? = nil)
        -> RecordedService
    {
        RecordedService(name: name, journal: journal, isFailing: failing, draining: draining, stopping: stopping)
    }

    @Test("services start in order and stop in reverse order, after all have drained")
    func order() async throws {
        let isInTime = try await group([service("store"), service("server")]).run { [journal] in journal.add("over") }
        #expect(isInTime)
        let lines = journal.lines
        #expect(
            Array(lines.prefix(6)) == [
                "start store", "started(\"store\")", "start server", "started(\"server\")", "over", "draining",
            ])
        #expect(Set(lines[6...7]) == ["drain store", "drain server"])
        #expect(
            Array(lines.dropFirst(8).filter { !$0.hasPrefix("slept") }) == [
                "drained(inTime: true)", "stop server", "stopped(\"server\")", "stop store", "stopped(\"store\")",
            ])
    }

    @Test("a service that does not start stops those before it, and its error comes out")
    func failedStart() async {
        await #expect(throws: RecordedService.Failure.self) {
            try await group([service("store"), service("loops"), service("server", failing: true), service("last")])
                .run {}
        }
        #expect(
            journal.lines.filter { !$0.hasPrefix("slept") } == [
                "start store", "started(\"store\")", "start loops", "started(\"loops\")", "start server",
                "startFailed(\"server\")", "stop loops", "stopped(\"loops\")", "stop store", "stopped(\"store\")",
            ])
    }

    @Test("a drain that outlasts the grace is left, and the services are stopped")
    func grace() async throws {
        let (stuck, time) = (Gate(), Gate())
        time.open()
        let isInTime = try await group([service("store"), service("server", draining: stuck)], time: time).run {}
        #expect(!isInTime)
        #expect(journal.lines.contains("slept 75") && journal.lines.contains("drained(inTime: false)"))
        #expect(journal.lines.contains("stop server") && journal.lines.contains("stop store"))
        stuck.open()
    }

    @Test("a service that does not stop keeps nobody from stopping")
    func stuckStop() async throws {
        let (stuck, time) = (Gate(), Gate())
        let running = Task { [group = group([service("store"), service("server", stopping: stuck)], time: time)] in
            try await group.run {}
        }
        while !journal.lines.contains("stop server") { await Task.yield() }
        time.open()
        #expect(try await running.value)
        #expect(journal.lines.contains("stopOverdue(\"server\")"))
        #expect(journal.lines.contains("stop store"))
        stuck.open()
    }
}
