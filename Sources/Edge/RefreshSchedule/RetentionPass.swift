// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import Observability

/// Lets go what nobody may keep any longer, a little at a time, so that no other write waits for long.
struct RetentionPass: Sendable {
    let store: any Retention
    let rules: RetentionRules
    let time: any Timekeeper
    let log: Log

    private static let batch = 100

    /// All of it; what one step ends is the next pass's.
    func run(_ conditions: PassConditions) async -> (end: PassEnd, done: [RetentionStep: Int]) {
        var done: [RetentionStep: Int] = [:]
        let now = time.now
        do throws(StoreFailure) {
            for step in RetentionStep.allCases {
                var count = RetentionPass.batch
                while count >= RetentionPass.batch {
                    guard conditions.mayBegin() else { return (.interrupted, tell(done)) }
                    count = try await store.retain(step, rules, at: now, limit: RetentionPass.batch)
                    done[step, default: 0] += count
                }
            }
            return (.idle(next: nil), tell(done))
        } catch {
            log.warning("retention could not be seen to", [Fact(.reason, "\(error)")])
            return (.troubled, tell(done))
        }
    }

    private func tell(_ done: [RetentionStep: Int]) -> [RetentionStep: Int] {
        for step in RetentionStep.allCases {
            guard let count = done[step], count > 0 else { continue }
            log.notice("retention let something go", [Fact(.component, step.rawValue), Fact(.count, count)])
        }
        return done
    }
}
