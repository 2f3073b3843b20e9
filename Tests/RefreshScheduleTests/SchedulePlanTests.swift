// SPDX-License-Identifier: Apache-2.0
import Consents
import Testing

@testable import RefreshSchedule

@Suite("What the scheduler does when")
struct SchedulePlanTests {
    private let acme = ScheduledWork.refreshes(ProviderKey(name: "acme", environment: nil))
    private let other = ScheduledWork.refreshes(ProviderKey(name: "other", environment: nil))

    @Test("at the start all is begun, in its order, and then nothing until something ends")
    func start() {
        var plan = SchedulePlan([.adoption, acme, other], at: .zero)
        #expect(plan.wakeAt == .zero)
        #expect(plan.begin(at: .zero) == [.adoption, acme, other])
        #expect(plan.begin(at: .seconds(1000)).isEmpty)
        #expect(plan.wakeAt == nil)
    }

    @Test("what was not finished goes on at once, what was rests until the next is due or it is looked for again")
    func rests() {
        var plan = SchedulePlan([acme, other], at: .zero)
        _ = plan.begin(at: .zero)
        plan.end(acme, .more, at: .seconds(1))
        #expect(plan.begin(at: .seconds(1)) == [acme])
        plan.end(acme, .idle(next: .milliseconds(500)), at: .seconds(2))
        plan.end(other, .idle(next: .seconds(86_400)), at: .seconds(2))
        #expect(plan.wakeAt == .milliseconds(2500))
        #expect(plan.begin(at: .milliseconds(2500)) == [acme])
        #expect(plan.wakeAt == .seconds(4))
        // What is due and nobody's to do, as while another process does it, makes no busy loop.
        plan.end(acme, .idle(next: .seconds(-5)), at: .seconds(3))
        #expect(plan.wakeAt == .milliseconds(3020))
    }

    @Test("trouble is left alone for twice as long each time up to a minute, and by one success forgotten")
    func trouble() {
        var plan = SchedulePlan([acme], at: .zero)
        var now = Duration.zero
        var rests: [Duration] = []
        for _ in 0..<9 {
            _ = plan.begin(at: now)
            plan.end(acme, .troubled, at: now)
            #expect(plan.isProbing(acme))
            rests.append((plan.wakeAt ?? .zero) - now)
            now = plan.wakeAt ?? .zero
        }
        #expect(rests == [1, 2, 4, 8, 16, 32, 60, 60, 60].map { Duration.seconds($0) })
        _ = plan.begin(at: now)
        plan.end(acme, .more, at: now)
        #expect(!plan.isProbing(acme))
        #expect(plan.wakeAt == now)
    }

    @Test("a provider that may not be called is looked at again no later than anything else")
    func blocked() {
        var plan = SchedulePlan([acme], at: .zero)
        _ = plan.begin(at: .zero)
        plan.end(acme, .blocked(for: .seconds(3600)), at: .zero)
        #expect(plan.wakeAt == SchedulePlan.interval(of: acme))
        _ = plan.begin(at: .seconds(2))
        plan.end(acme, .blocked(for: .milliseconds(300)), at: .seconds(2))
        #expect(plan.wakeAt == .milliseconds(2300))
    }

    @Test("one slot is left to each other provider")
    func shares() {
        #expect(RefreshSlots.share(of: 64, among: 1) == 64)
        #expect(RefreshSlots.share(of: 64, among: 3) == 62)
        #expect(RefreshSlots.share(of: 2, among: 10) == 1)
    }
}
