// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Consents
import IdentityTokens
import NativeJOSE
import ProviderClients
import Settings

/// What a provider's issuer tells of itself, held against the configuration: a line each.
struct IssuerReport: Sendable {
    let settings: ProviderSettings
    let issuers: ProviderIssuers

    /// Whether anything of the provider hangs on its issuer.
    static func isNeeded(for settings: ProviderSettings) -> Bool {
        settings.issuer != nil && (settings.usesDiscovery || settings.idToken != .ignored)
    }

    /// Asks the issuer, from a loop.
    func findings() async -> [CheckFinding] {
        var findings: [CheckFinding] = []
        var told: ProviderMetadata?
        if settings.usesDiscovery {
            switch await issuers.metadata.current() {
            case .failure(let fault):
                return [finding(.error, "discovery: \(fault): codes cannot be exchanged, nor ID tokens verified")]
            case .success(let metadata):
                findings += places(metadata) + methods(metadata) + scopes(metadata)
                told = metadata
            }
        }
        if settings.idToken != .ignored { findings += await signatures(told) }
        if let difference = clockDifference { findings.append(difference) }
        return findings
    }

    /// Nil where nobody would notice: ID tokens may be off by 60 seconds.
    private var clockDifference: CheckFinding? {
        guard settings.idToken != .ignored, let offset = issuers.clock.offset?.components.seconds, abs(offset) > 30
        else { return nil }
        return finding(
            .warning,
            "clock: the provider's is \(abs(offset)) s \(offset > 0 ? "ahead of" : "behind") ours; ID tokens that are off "
                + "by over 60 s are refused")
    }

    private func places(_ metadata: ProviderMetadata) -> [CheckFinding] {
        let configured = settings.endpoints
        let isToldInTokens = settings.idToken != .ignored && metadata.refused[.userinfo] == nil
        let wanted: [(ProviderMetadata.Endpoint, String?, CheckFinding.Level, String)] = [
            (.token, configured.token, .error, "codes cannot be exchanged"),
            (
                .userinfo, configured.userinfo, isToldInTokens ? .ok : .warning,
                isToldInTokens ? "a profile is what the ID token tells" : "no profile can be asked for"
            ),
            (.keys, configured.jwks, settings.idToken == .ignored ? .ok : .error, "ID tokens cannot be verified"),
            (.revocation, configured.revocation, .warning, "it is not told of a withdrawal"),
        ]
        return wanted.map { endpoint, given, level, loss in
            let name = endpoint.rawValue
            if let given { return finding(.ok, "\(name): \(given), by the configuration") }
            if let url = metadata.endpoints[endpoint] { return finding(.ok, "\(name): \(url.text), by discovery") }
            let reason = metadata.refused[endpoint].map { "is not taken: \($0)" } ?? "is not told"
            return finding(level, "\(name): \(reason); \(loss)")
        }
    }

    private func methods(_ metadata: ProviderMetadata) -> [CheckFinding] {
        let method = settings.client.authentication.rawValue
        let isTold = metadata.authenticationMethods.contains(method)
        let all = metadata.authenticationMethods.joined(separator: ", ")
        var findings = [
            isTold
                ? finding(.ok, "token_endpoint_auth_method: \(method) is taken")
                : finding(.error, "token_endpoint_auth_method: \(method) is not among \(all); codes would be refused")
        ]
        if settings.pkce == .required, !metadata.hasS256 {
            findings.append(finding(.warning, "pkce: the provider does not tell that it takes S256"))
        }
        if metadata.namesIssuerInAnswers {
            findings.append(
                finding(.ok, "iss: the provider names its issuer beside the code (RFC 9207); hand that over too"))
        }
        return findings
    }

    private func scopes(_ metadata: ProviderMetadata) -> [CheckFinding] {
        guard let told = metadata.told(.scopes) else { return [] }
        let missing = settings.scopes.filter { !told.contains($0) }
        if missing.isEmpty { return [finding(.ok, "scopes: all are told by the provider")] }
        return [
            finding(
                .warning, "scopes: \(missing.joined(separator: ", ")) is not told by the provider; it may be refused")
        ]
    }

    private func signatures(_ metadata: ProviderMetadata?) async -> [CheckFinding] {
        let allowed = settings.idTokenAlgorithms
        let told = metadata?.idTokenAlgorithms
        let common = allowed.filter { told?.contains($0) ?? true }
        var findings: [CheckFinding] = []
        if let told {
            findings.append(
                common.isEmpty
                    ? finding(
                        .error,
                        "id_token_algorithms: the provider signs with \(told.joined(separator: ", ")), of which none is "
                            + "allowed; every code would end as id_token_invalid")
                    : finding(.ok, "id_token_algorithms: the provider signs with \(common.joined(separator: ", "))"))
        }
        switch await issuers.keys.current() {
        case .failure(let fault):
            findings.append(finding(.error, "keys: \(fault): ID tokens cannot be verified"))
        case .success(let set):
            let algorithms = common.compactMap(JOSEAlgorithm.init(rawValue:)).filter { algorithm in
                set.keys.contains { $0.isMeant(for: algorithm) }
            }
            let names = algorithms.map(\.rawValue).joined(separator: ", ")
            let count = "\(set.keys.count) of \(set.count) keys can be used"
            let isMAC = common.contains("HS256")
            findings.append(
                algorithms.isEmpty && !isMAC
                    ? finding(.error, "keys: \(count), and none for an allowed algorithm")
                    : finding(
                        set.furtherCount == 0 ? .ok : .warning,
                        "keys: \(count)\(names.isEmpty ? "" : ", for \(names)")\(set.further)"))
        }
        return findings
    }

    private func finding(_ level: CheckFinding.Level, _ sentence: String) -> CheckFinding {
        CheckFinding(level, "providers.\(settings.name): \(sentence)")
    }
}
