// SPDX-License-Identifier: Apache-2.0
package import Consents
import NativeJOSE

/// The merchant's own users, who show session tokens of one or more of the merchant's issuers.
package final class CallerTokens: Sendable {
    /// One entry of `auth.jwt`.
    package struct Entry: Sendable {
        package let rules: CallerTokenRules
        package let keys: IssuerKeys

        package init(rules: CallerTokenRules, keys: IssuerKeys) {
            self.rules = rules
            self.keys = keys
        }
    }

    private let entries: [Entry]
    private let time: any Timekeeper

    package init(_ entries: [Entry], time: any Timekeeper) {
        self.entries = entries
        self.time = time
    }

    /// Whose session it is.
    ///
    /// The issuer and audience that the token claims choose the entry; only that entry's keys and rules have a say then,
    /// so no issuer can speak for another one's users.
    package func caller(_ text: SecretText) async -> IdentityVerdict<Subject> {
        let entry: Entry
        do throws(TokenFault) { entry = try self.entry(for: text) } catch { return .refused(error) }
        return judge(await entry.keys.verify(text.reveal(), by: entry.rules.policy, doubt: .isBrief), entry)
    }

    /// The same without asking an issuer for keys.
    /// - Returns: nil where that could change the verdict.
    package func callerAtOnce(_ text: SecretText) -> IdentityVerdict<Subject>? {
        let entry: Entry
        do throws(TokenFault) { entry = try self.entry(for: text) } catch { return .refused(error) }
        return entry.keys.verifyAtOnce(text.reveal(), by: entry.rules.policy, doubt: .isBrief).map { judge($0, entry) }
    }

    private func judge(_ verdict: IssuerVerdict, _ entry: Entry) -> IdentityVerdict<Subject> {
        let now = time.now
        return IdentityVerdict(verdict) { token throws(TokenFault) in try entry.rules.check(token, now: now) }
    }

    private func entry(for text: SecretText) throws(TokenFault) -> Entry {
        let claims = try ClaimSet(TokenVerification.parse(text.reveal()).payload)
        let (issuer, audiences) = (try claims.requiredText(.iss), try claims.audiences() ?? [])
        let candidates = entries.filter { $0.rules.issuer.isSame(as: issuer) }
        guard let first = candidates.first else { throw .issuer(expected: "one of auth.jwt", isAlmost: false) }
        return candidates.first { entry in audiences.contains { $0.isSame(as: entry.rules.audience) } } ?? first
    }
}
