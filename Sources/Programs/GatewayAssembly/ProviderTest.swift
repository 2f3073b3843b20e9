// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Consents
import NativeCurl
import NativeEventLoop
import ProviderClients
import Settings
import TokenVaults

/// `provider test NAME`: a profile's recorded answers, then a call of each endpoint with what cannot be valid: a code
/// for each secret of the client, an access token, and a token to revoke.
struct ProviderTest: Sendable {
    let name: String
    let place: Workplace

    func run(json: Bool) async -> CommandOutput {
        if let provider = place.settings.provider(named: name) {
            let findings = RecordedAnswers(provider.profile).findings(at: place.time.now)
            return CheckOutput.lines(findings + (await probes(of: provider)), json: json)
        }
        do throws(SettingsErrors) {
            guard let profile = ProviderCommands.all(try BuiltInProfiles.load()).first(where: { $0.name == name })
            else { return ProviderCommands.notThere(name) }
            let findings = RecordedAnswers(profile).findings(at: place.time.now)
            let unasked = CheckFinding(.ok, "token endpoint: not asked; no provider is configured as '\(name)'")
            return CheckOutput.lines(findings + [unasked], json: json)
        } catch {
            return StartFailure(error).output
        }
    }

    /// Asks each endpoint, from one of the loops; the token endpoint once for each secret.
    private func probes(of provider: ProviderSettings) async -> [CheckFinding] {
        let way: ProviderWay
        do throws(StartFailure) {
            way = try ProviderWay(to: provider, on: place.loops, place.time, place.entropy)
        } catch {
            return [CheckFinding(.error, error.sentence)]
        }
        let connect = { @Sendable [time = place.time] (definition: ProviderDefinition) in
            CurlProviderConnection(
                definition, way.issuers?.trust ?? .none, timekeeper: time, order: nil, client: way.client)
        }
        let findings = await LoopLauncher(loops: place.loops).result { () -> [CheckFinding] in
            var findings: [CheckFinding] = []
            var definition = way.definition
            var tokenEndpoint = definition.facts.issuer.tokenEndpoint
            if let issuers = way.issuers, IssuerReport.isNeeded(for: provider) {
                findings += await IssuerReport(settings: provider, issuers: issuers).findings()
                guard let places = await issuers.endpoints else { return findings }
                tokenEndpoint = places.token ?? tokenEndpoint
                definition.userinfoEndpoint = places.userinfo
                definition.revocationEndpoint = places.revocation
            }
            findings += await secrets(provider, definition, at: tokenEndpoint, connect)
            let connection = connect(definition)
            if let endpoint = definition.userinfoEndpoint { findings.append(await userinfo(connection, endpoint)) }
            if let endpoint = definition.revocationEndpoint { findings.append(await revocation(connection, endpoint)) }
            return findings
        }
        await way.stop()
        return findings
    }

    /// A line for each secret; one that is refused is no error while another is taken.
    private func secrets(
        _ provider: ProviderSettings, _ definition: ProviderDefinition, at endpoint: String,
        _ connect: @Sendable (ProviderDefinition) -> CurlProviderConnection
    ) async -> [CheckFinding] {
        var verdicts: [ProviderVerdict] = []
        for (index, authentication) in definition.authentications.enumerated() {
            var single = definition
            single.authentications = [authentication]
            guard let code = AuthorizationCode(word("probe")) else { continue }
            let outcome = await connect(single).exchange(code, parameters(for: provider))
            let count = definition.authentications.count
            let list = provider.client.authentication == .privateKeyJWT ? "private_keys" : "client_secrets"
            verdicts.append(
                ProviderVerdict(
                    outcome, endpoint: endpoint,
                    secret: count > 1 ? "\(list), number \(index + 1) of \(count): " : ""))
        }
        let isOneTaken = verdicts.contains(where: \.takesCredentials)
        return verdicts.map { $0.finding(isAnotherTaken: isOneTaken) }
    }

    private func userinfo(_ connection: CurlProviderConnection, _ endpoint: String) async -> CheckFinding {
        let asked = "userinfo endpoint: \(endpoint) was reached"
        switch await connection.profile(
            accessToken: SecretText(word("probe")), limit: connection.facts.timeouts.total)
        {
        case .refused(let statement):
            return CheckFinding(.ok, "\(asked) and refuses the token, as it must\(said(statement))")
        case .notOffered: return CheckFinding(.warning, "userinfo endpoint: there is none any more")
        case .untrusted(let reason):
            return CheckFinding(
                .error, "\(asked) and gave a signed profile for a token that cannot be valid: \(reason)")
        case .failed(let statement) where statement.status == 0:
            return CheckFinding(.error, "userinfo endpoint: \(endpoint) was not reached, or gave no whole answer")
        case .failed(let statement):
            return CheckFinding(.warning, "\(asked), but it is not told whether it refuses the token\(said(statement))")
        case .fetched:
            return CheckFinding(.error, "\(asked) and gave a profile for a token that cannot be valid")
        }
    }

    private func revocation(_ connection: CurlProviderConnection, _ endpoint: String) async -> CheckFinding {
        let asked = "revocation endpoint: \(endpoint) was reached"
        switch await connection.revoke(SecretText(word("probe")), kind: .refreshToken) {
        case .revoked: return CheckFinding(.ok, "\(asked) and has nothing against a token that it does not know")
        case .unsupported: return CheckFinding(.warning, "\(asked) and revokes no refresh tokens")
        case .refused(let statement): return CheckFinding(.warning, "\(asked) and refuses the token\(said(statement))")
        case .failed(let statement, _) where statement.status == 0:
            return CheckFinding(.error, "revocation endpoint: \(endpoint) was not reached, or gave no whole answer")
        case .failed(let statement, _): return CheckFinding(.error, "\(asked), but did nothing\(said(statement))")
        }
    }

    private func said(_ statement: ProviderStatement) -> String { ProviderVerdict.said(statement) }

    private func parameters(for provider: ProviderSettings) -> ExchangeParameters {
        let isSDKCode = !provider.profile.sdkCodeParameters.isEmpty
        let wantsVerifier = !isSDKCode && provider.pkce != .unsupported
        return ExchangeParameters(
            isSDKCode: isSDKCode, redirectURI: provider.redirectURI ?? provider.redirectURIs.first,
            codeVerifier: wantsVerifier ? SecretText(word("verifier") + word("verifier")) : nil)
    }

    /// A text that no provider can have given out; of unreserved characters only.
    private func word(_ purpose: String) -> String {
        "consent-gateway-\(purpose)-" + place.entropy.identifier(at: place.time.now).hexadecimal
    }
}
