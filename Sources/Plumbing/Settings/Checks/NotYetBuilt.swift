// SPDX-License-Identifier: Apache-2.0

/// A setting of the contract whose feature this version does not have yet. It is refused by name, never skipped.
/// Whoever builds the feature deletes its line in ``all``.
struct NotYetBuilt: Sendable {
    /// As `SettingPath.pattern` has it.
    let pattern: String
    let condition: Condition
    /// What is not there yet and what to do meanwhile.
    let sentence: String

    enum Condition: Sendable {
        /// Written at all, even with its default.
        case written
        /// A list or section with more entries than this.
        case moreThan(Int)
    }

    private init(_ pattern: String, _ condition: Condition, _ sentence: String) {
        self.pattern = pattern
        self.condition = condition
        self.sentence = sentence
    }

    static let all: [NotYetBuilt] = [
        .init("apps", .moreThan(0), "association files and hosted flows are not built yet; leave it out"),
        .init("webhooks", .moreThan(0), "webhooks are not built yet; leave it out"),
        .init("providers.*.authorization_parameters", .moreThan(0), "hosted flows are not built yet; leave it out"),
    ]

    /// Reports each setting of `context` that needs what is not there yet.
    static func refuse(in settings: GatewaySettings, _ context: ReadingContext) {
        for fact in context.facts {
            for entry in all where entry.pattern == fact.path.pattern && entry.applies(to: fact, settings) {
                context.fail(fact.path, fact.place, entry.sentence)
            }
        }
    }

    private func applies(to fact: SettingFact, _ settings: GatewaySettings) -> Bool {
        switch condition {
        case .written: return true
        case .moreThan(let count): return fact.count > count
        }
    }
}
