// SPDX-License-Identifier: Apache-2.0
package import Consents
package import NativeJOSE
import NativeSystem

/// The public keys of one issuer, and the verification of its tokens with them.
///
/// A token that names an unknown key, or whose signature no key matches, has the set fetched once more, at once
/// however young the set is, and once in a pause whatever tokens come; a set without a usable key never takes the place
/// of one that has some.
package final class IssuerKeys: Sendable {
    private let document: RemoteDocument<JSONWebKeySet>?
    private let fixed: Locked<JSONWebKeySet>
    private let time: any Timekeeper
    private let pause: Duration

    /// Keys that are fetched.
    /// - Parameter place: where the set is, asked before each fetch: the configured URL, or the metadata's.
    package init(
        at place: @escaping @Sendable () async -> Result<ProviderURL, DocumentFault>, source: any DocumentSource,
        limits: DocumentLimits, time: any Timekeeper, launcher: any TaskLauncher, tell: @escaping FetchTelling
    ) {
        fixed = Locked(JSONWebKeySet(keys: []))
        self.time = time
        pause = limits.pause
        document = RemoteDocument(limits: limits, time: time, launcher: launcher, tell: tell) {
            await Self.fetch(place, source)
        }
    }

    /// Keys of a file, which change only where somebody gives others.
    package init(_ keys: JSONWebKeySet, time: any Timekeeper) {
        fixed = Locked(keys)
        self.time = time
        pause = .zero
        document = nil
    }

    /// Takes other keys of a file from now on; of no use where the keys are fetched.
    package func take(_ keys: JSONWebKeySet) { fixed.withLock { $0 = keys } }

    private static func fetch(
        _ place: @Sendable () async -> Result<ProviderURL, DocumentFault>, _ source: any DocumentSource
    ) async -> RemoteDocument<JSONWebKeySet>.Brought {
        switch await place() {
        case .failure(let fault): return .failed(fault)
        case .success(let url):
            switch await source.get(url) {
            case .failed(let fault): return .failed(fault)
            case .document(let body, let lifetime):
                do throws(KeySetFault) {
                    let set = try JSONWebKeySet(document: body)
                    return set.keys.isEmpty ? .failed(.noUsableKey) : .value(set, lifetime: lifetime)
                } catch {
                    return .failed(.keys(error.description))
                }
            }
        }
    }

    /// What becomes of a token; nothing is fetched for one that no key could save.
    /// - Parameter doubt: what it comes to where its key may be a newer one, which cannot be fetched now.
    package func verify(_ token: String, by policy: TokenPolicy, doubt: KeyDoubt) async -> IssuerVerdict {
        let verification = TokenVerification(policy)
        guard let document else {
            let keys = fixed.withLock { $0 }
            return IssuerVerdict(verification.verify(token, with: keys, keysAreFresh: true))
        }
        let start = time.monotonic
        var held = document.fresh
        if held == nil {
            // Most of what is no token is found out without a key.
            let verdict = verification.verify(token, with: JSONWebKeySet(keys: []), keysAreFresh: false)
            guard case .unknownKey = verdict else { return IssuerVerdict(verdict) }
            switch await document.document(.current) {
            case .success(let current): held = current
            case .failure(let fault): return .keysUnavailable(fault)
            }
        }
        guard var held else { return .keysUnavailable(.tooEarly) }
        var verdict = verify(verification, token, held)
        if Self.wantsNewerKeys(verdict), held.askedAt < start,
            case .success(let newer) = await document.document(.newer(than: held.version)),
            newer.version != held.version
        {
            held = newer
            verdict = verify(verification, token, held)
        }
        // Of keys that were fetched before the token came nobody can say that a newer one is not there by now.
        guard held.askedAt < start, isDoubtful(verdict, held, doubt) else {
            return IssuerVerdict(verdict)
        }
        return .keysUnavailable(document.lastFault ?? .tooEarly)
    }

    /// Whether newer keys could change the verdict over a token that these keys, which were there before it came, do not
    /// verify.
    private func isDoubtful(
        _ verdict: TokenVerdict, _ held: HeldDocument<JSONWebKeySet>, _ doubt: KeyDoubt
    ) -> Bool {
        guard Self.wantsNewerKeys(verdict) else { return false }
        // Of a set that was fetched a moment ago the keys that it names are what they are.
        if case .invalid(let fault) = verdict, fault.isOfSignature { return doubt == .waits && !isFresh(held) }
        return doubt == .waits || !isFresh(held)
    }

    /// The same without asking anybody for keys.
    /// - Returns: nil where newer keys could change the verdict.
    package func verifyAtOnce(_ token: String, by policy: TokenPolicy, doubt: KeyDoubt) -> IssuerVerdict? {
        let verification = TokenVerification(policy)
        guard let document else {
            let keys = fixed.withLock { $0 }
            return IssuerVerdict(verification.verify(token, with: keys, keysAreFresh: true))
        }
        guard let held = document.fresh else {
            let verdict = verification.verify(token, with: JSONWebKeySet(keys: []), keysAreFresh: false)
            if case .unknownKey = verdict { return nil }
            return IssuerVerdict(verdict)
        }
        let verdict = verify(verification, token, held)
        // It is too early to fetch them again: whoever has doubts for a short time only has none now.
        let isFinal =
            !Self.wantsNewerKeys(verdict) || (doubt == .isBrief && isFresh(held) && !document.mayBeSearched)
        return isFinal ? IssuerVerdict(verdict) : nil
    }

    /// Whether the set was fetched a moment ago, and nobody has looked for another one in vain since.
    private func isFresh(_ held: HeldDocument<JSONWebKeySet>) -> Bool {
        isYoung(held) && document?.lastFault == nil
    }

    private func isYoung(_ held: HeldDocument<JSONWebKeySet>) -> Bool { time.monotonic < held.askedAt + pause }

    private func verify(
        _ verification: TokenVerification, _ token: String, _ held: HeldDocument<JSONWebKeySet>
    ) -> TokenVerdict {
        verification.verify(token, with: held.value, keysAreFresh: isYoung(held))
    }

    private static func wantsNewerKeys(_ verdict: TokenVerdict) -> Bool {
        switch verdict {
        case .unknownKey: true
        case .invalid(let fault): fault.isOfKeys
        case .verified, .cannotVerify: false
        }
    }

    /// Fetched now. What was held stays where that fails or brings no key, and the fault is told.
    package func reload() async -> Result<JSONWebKeySet, DocumentFault> {
        guard let document else { return .success(fixed.withLock { $0 }) }
        let outcome = await document.document(.forced).map(\.value)
        if let fault = document.lastFault { return .failure(fault) }
        return outcome
    }

    /// The set that is used, fetched where there is none.
    package func current() async -> Result<JSONWebKeySet, DocumentFault> {
        guard let document else { return .success(fixed.withLock { $0 }) }
        return await document.document(.current).map(\.value)
    }
}

/// What a token comes to that no key at hand has signed, where a newer one may have and cannot be fetched now.
package enum KeyDoubt: Sendable {
    /// Nothing is known of it, and it is looked at again: a token that comes once, with what must not be lost. But what
    /// bears the name of a key of a set that was fetched within the pause is that key's or nobody's.
    case waits
    /// A set that was fetched within the pause is the last word, and what bears the name of a key of any set is that key's
    /// or nobody's: a token that whoever shows it shows again. Nothing is known of it where the last fetch failed.
    case isBrief
}

/// What became of a token, once newer keys were asked for where that could help.
package enum IssuerVerdict: Sendable {
    case verified(VerifiedToken)
    case invalid(TokenFault)
    /// See ``TokenVerdict/cannotVerify(algorithm:)``.
    case cannotVerify(algorithm: String)
    /// The issuer's keys, or newer ones that the token needs, cannot be had now: nothing is known of the token.
    case keysUnavailable(DocumentFault)

    /// One that newer keys do not change.
    init(_ verdict: TokenVerdict) {
        switch verdict {
        case .verified(let token): self = .verified(token)
        case .unknownKey: self = .invalid(.unknownKey)
        case .invalid(let fault): self = .invalid(fault)
        case .cannotVerify(let algorithm): self = .cannotVerify(algorithm: algorithm)
        }
    }
}
