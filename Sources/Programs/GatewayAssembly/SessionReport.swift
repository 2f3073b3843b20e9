// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Consents
import IdentityTokens
import NativeCurl
import NativeJOSE
import Settings

/// What the issuer of one entry of `auth.jwt` tells, held against the entry: a line each. An entry whose keys lie in a file
/// asks nobody.
struct SessionReport: Sendable {
    let entry: JWTSettings
    /// As `auth.jwt[0]`.
    let place: String
    let source: any DocumentSource
    let time: any Timekeeper
    let launcher: any TaskLauncher

    /// Asks the issuer, from a loop.
    func findings() async -> [CheckFinding] {
        guard case .uri(let uri) = entry.keys else { return [] }
        return [await keys(at: uri)] + (await metadata(beside: uri))
    }

    private func keys(at uri: String) async -> CheckFinding {
        let url = ProviderURL(text: uri, addresses: .any)
        let keys = IssuerKeys(
            at: { .success(url) }, source: source, limits: .usual, time: time, launcher: launcher, tell: { _ in })
        switch await keys.current() {
        case .failure(let fault): return finding(.error, "jwks_uri: \(uri): \(fault): no user can call")
        case .success(let set):
            let algorithms = entry.algorithms.filter { name in
                JOSEAlgorithm(rawValue: name).map { algorithm in set.keys.contains { $0.isMeant(for: algorithm) } }
                    ?? false
            }
            let count = "\(set.keys.count) of \(set.count) keys can be used"
            if algorithms.isEmpty {
                let all = entry.algorithms.joined(separator: ", ")
                return finding(.error, "jwks_uri: \(uri): \(count), and none for \(all): no user can call")
            }
            return finding(
                set.furtherCount == 0 ? .ok : .warning,
                "jwks_uri: \(uri): \(count), for \(algorithms.joined(separator: ", "))\(set.further)")
        }
    }

    /// What the issuer calls itself, where its metadata are on the host of its keys. Many have none: then nothing is said.
    private func metadata(beside uri: String) async -> [CheckFinding] {
        guard SessionReport.origin(entry.issuer) == SessionReport.origin(uri),
            let rule = EndpointRule(issuer: entry.issuer, allowedHosts: [])
        else { return [] }
        let metadata = IssuerMetadata(
            issuer: entry.issuer, rule: rule, source: source, limits: .usual, time: time, launcher: launcher,
            tell: { _ in })
        switch await metadata.current() {
        case .failure(.metadata(.issuer(_, let found))):
            return [finding(.error, "issuer: it calls itself \(found): its sessions are refused")]
        case .failure: return []
        case .success(let told) where told.issuer != entry.issuer:
            return [finding(.error, "issuer: it calls itself \(told.issuer): its sessions are refused")]
        case .success(let told):
            var findings = [finding(.ok, "issuer: \(told.issuer), by its own word")]
            if let place = told.endpoints[.keys], place.text != uri {
                findings.append(finding(.warning, "jwks_uri: the issuer itself names \(place.text)"))
            }
            return findings
        }
    }

    /// Scheme, host and port, as they are written.
    private static func origin(_ url: String) -> [Substring] {
        Array(url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3))
    }

    private func finding(_ level: CheckFinding.Level, _ sentence: String) -> CheckFinding {
        CheckFinding(level, "\(place): \(sentence)")
    }
}

extension JSONWebKeySet {
    /// Of the whole document.
    var count: Int { keys.count + passedOver.count + furtherCount }

    /// What is not tried; nothing for a set of a usual size.
    var further: String {
        furtherCount == 0
            ? "" : "; \(furtherCount) beyond the first \(JSONWebKeySet.most) are looked at for tokens that name them"
    }
}
