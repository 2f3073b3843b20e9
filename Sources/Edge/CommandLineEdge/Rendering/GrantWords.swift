// SPDX-License-Identifier: Apache-2.0
internal import Consents

/// A grant's account in sentences.
struct GrantWords {
    /// Something that happened, and what it means.
    struct Told {
        var at: Instant
        var type: String
        /// Whom a failure blames; nil where there is nobody to blame.
        var blames: String?
        var says: String
    }

    /// Something that keeps its refresh token from going out.
    struct Obstacle {
        var kind: String
        var until: Instant?
        var says: String
    }

    let account: GrantAccount
    private var record: ConsentRecord { account.record }
    private var now: Instant { account.now }

    init(account: GrantAccount) { self.account = account }

    var what: [String] {
        var sentences = [
            "A grant of \(record.provider.words), given at \(record.createdAt.text). Its tokens were issued at "
                + "\(record.timing.issuedAt.text), as number \(record.generation)."
        ]
        if let expiry = record.accessTokenExpiresAt {
            sentences.append("The access token \(expiry > now ? "is good until" : "lapsed at") \(expiry.text).")
        } else {
            sentences.append("Its tokens were destroyed.")
        }
        if record.status.isGrantHeld, record.isRefreshable { sentences.append(refreshToken) }
        return sentences
    }

    private var refreshToken: String {
        guard let life = account.policy?.refreshTokenLife(record.timing) else {
            return "Nobody tells of an end of its refresh token."
        }
        let source = life.isTold ? "by the provider's word" : "if it is not used, by idle_life"
        let word = life.end > now ? "ends" : "ended"
        return "Its refresh token \(word) at \(life.end.text) \(source)."
    }

    /// What came of the last try, or of the consent where none was made; one at most.
    var last: [Told] {
        let tries: [EventType] = [.refreshed, .refreshFailed, .reauthorizationRequired, .created, .renewed]
        guard let event = account.events.last(where: { tries.contains($0.draft.type) }) else { return [] }
        var told = EventWords(event.draft).told
        told.says = "\(told.at.text): \(told.says)."
        if let blames = told.blames { told.says += " To blame: \(blames)." }
        if record.refreshFailures > 1 { told.says += " It was failure \(record.refreshFailures) in a row." }
        return [told]
    }

    var timeline: [Told] { account.events.map { EventWords($0.draft).told } }

    var obstacles: [Obstacle] { account.obstacles.map(words) }

    private func words(_ obstacle: GrantAccount.Obstacle) -> Obstacle {
        switch obstacle {
        case .ended(let status):
            Obstacle(kind: "ended", says: "The consent is \(status.rawValue) and stays so.")
        case .reauthorizationRequired(let reason):
            Obstacle(
                kind: "reauthorization_required",
                says: "The grant is gone\(reason.map { " (\($0.rawValue))" } ?? ""): no scheduler sends it again.")
        case .noRefreshToken: Obstacle(kind: "no_refresh_token", says: "The provider gave no refresh token.")
        case .providerAbsent:
            Obstacle(kind: "provider_absent", says: "No provider \(record.provider.name) is configured.")
        case .otherClient:
            Obstacle(
                kind: "client_changed",
                says: "It was issued to the client \(record.issuer.clientID) at \(record.issuer.tokenEndpoint), and "
                    + "the configuration has another one: it is not sent there.")
        case .underWay(let since):
            Obstacle(
                kind: "under_way",
                says: "A refresh went out at \(since.text), and its answer is awaited; or its sender is gone.")
        case .inDoubt(let until):
            Obstacle(
                kind: "in_doubt", until: until,
                says: "Nobody knows what became of the last sending. Before \(until.text) the provider could take "
                    + "another one for theft and end the grant.")
        case .provider(let reason, let since, let until):
            Obstacle(
                kind: reason.rawValue, until: until,
                says: words(of: reason) + (since.map { ", since \($0.text)" } ?? "") + ", until \(until.text) at least."
            )
        }
    }

    private func words(of reason: BlockReason) -> String {
        switch reason {
        case .gate: "Its provider takes no calls (a gate for all of its grants)"
        case .breaker: "Calls of its provider came to nothing: one trial at a time goes out (an open breaker)"
        case .pause: "Its provider refuses the gateway's credentials: one trial a minute goes out (a pause)"
        case .brake:
            "Its provider called too many grants dead: verdicts are held, one trial a minute goes out (a brake)"
        }
    }

    var next: [String] {
        guard let next = account.next else {
            return record.status.isGrantHeld && record.isRefreshable && account.policy != nil
                ? ["Nothing by itself: it is refreshed when somebody asks."] : []
        }
        let time = next.at <= now ? "It is due since \(next.at.text)" : "It is due at \(next.at.text)"
        return ["\(time): \(why(next.reason))."]
    }

    private func why(_ reason: DueReason) -> String {
        switch reason {
        case .accessTokenEnd: "shortly before its access token lapses (keep_fresh)"
        case .interval:
            "the provider's grants are refreshed within \(DurationText.rough(account.policy?.interval ?? .zero)) "
                + "(keep_alive)"
        case .refreshTokenEnd: "half of its refresh token's life is over then, which comes first"
        case .nextTry: "the next try after \(counted(record.refreshFailures, "failure")) in a row"
        case .inDoubt: "the next try after one whose outcome nobody knows"
        case .onDemand: "somebody has to ask"
        }
    }

    var advice: [String] {
        guard let obstacle = account.obstacles.first else {
            return [
                record.status == .failing
                    ? "It is tried again by itself; `refresh \(record.id)` tries now."
                    : "Nothing has to be done; `refresh \(record.id)` refreshes it now."
            ]
        }
        switch obstacle {
        case .ended: return ["Nothing: a new consent is a new record."]
        case .reauthorizationRequired:
            return [
                "Ask the person for a new consent: it heals this record.",
                "Where the provider's word was wrong, `refresh \(record.id) --force` sends the kept tokens once more.",
            ]
        case .noRefreshToken: return ["Ask for a new consent when the access token has lapsed."]
        case .providerAbsent: return ["Configure the provider again under this name."]
        case .otherClient: return ["Configure that client again, or ask the person for a new consent."]
        case .underWay: return ["Wait for it. Where its sender is gone, `job` or any refresh takes it over."]
        case .inDoubt, .provider(.gate, _, _), .provider(.breaker, _, _):
            return ["Wait until then: it goes out by itself."]
        case .provider(.pause, _, _):
            return ["Mend the client's credentials; `refresh \(record.id)` is a trial at once."]
        case .provider(.brake, _, _):
            return ["`incidents` says more; `incidents confirm` or `dismiss \(record.provider.name)` decides."]
        }
    }
}
