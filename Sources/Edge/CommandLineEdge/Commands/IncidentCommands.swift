// SPDX-License-Identifier: Apache-2.0
internal import Consents

/// `incidents`.
extension CommandTable {
    static let incidents = CommandEntry(
        words: ["incidents"], operands: "[…]", summary: "what keeps calls from providers, and held verdicts",
        about: [
            "Prints a line on each gate, breaker, paused client and held verdict: since when, why, and what clears it.",
            "Where a provider declares most of its last grants dead, its verdicts are held and one trial a minute goes "
                + "out; all of them are let go when a grant that was declared dead gets tokens. You can decide sooner. "
                + "`incidents confirm PROVIDER` says that those grants are gone: their people must consent again. "
                + "`incidents dismiss PROVIDER` says that they are not: they are tried again.",
        ])
}

extension CommandBuilder {
    func incidents() throws(UsageError) -> Command {
        guard let word = arguments.operands.first else { return .incidents }
        guard let decision = VerdictDecision(rawValue: word) else {
            throw .unknownName(
                word, what: "the decision",
                known: [VerdictDecision.confirm.rawValue, VerdictDecision.dismiss.rawValue], command: ["incidents"])
        }
        guard arguments.operands.count > 1 else {
            throw .argumentMissing("the NAME of a provider", command: ["incidents"])
        }
        if arguments.operands.count > 2 { throw .argumentUnwanted(arguments.operands[2], command: ["incidents"]) }
        return .decideVerdicts(decision, provider: arguments.operands[1])
    }
}
