// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Consents
import NativeCurl
import NativeEventLoop
import ProviderClients
import Settings
import TokenVaults

/// `provider test NAME`: a profile's recorded answers, then one call with a code that cannot be valid.
struct ProviderTest: Sendable {
    let name: String
    let place: Workplace

    func run(json: Bool) async -> CommandOutput {
        if let provider = place.settings.provider(named: name) {
            let findings = RecordedAnswers(provider.profile).findings(at: place.time.now)
            return CheckOutput.lines(findings + [await probe(provider)], json: json)
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

    /// Asks the token endpoint once, from one of the loops.
    private func probe(_ provider: ProviderSettings) async -> CheckFinding {
        let definition = ProviderDefinition(provider)
        let clients: [CurlClient]
        do throws(StartFailure) {
            clients = try Gateway.clients(for: definition, on: place.loops)
        } catch {
            return CheckFinding(.error, error.sentence)
        }
        let loops = place.loops
        let connection = CurlProviderConnection(definition, timekeeper: place.time) {
            loops.current.flatMap { current in clients.first { $0.loop === current } }
        }
        let parameters = parameters(for: provider)
        let text = word("probe")
        let finding = await LoopLauncher(loops: loops).result { () -> CheckFinding in
            guard let code = AuthorizationCode(text) else { return CheckFinding(.error, "no code could be made") }
            return verdict(await connection.exchange(code, parameters), definition.facts.issuer.tokenEndpoint)
        }
        for client in clients { await client.stop() }
        return finding
    }

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

    private func verdict(_ outcome: TokenOutcome, _ endpoint: String) -> CheckFinding {
        let asked = "token endpoint: \(endpoint) was reached"
        switch outcome {
        case .rejected(let statement):
            return CheckFinding(
                .ok, "\(asked), takes the client's credentials and refuses the code, as it must\(said(statement))")
        case .credentialsRefused(let statement):
            return CheckFinding(.error, "\(asked) and refuses the client's credentials\(said(statement))")
        case .requestRefused(let statement):
            return CheckFinding(
                .error, "\(asked) and refuses the request as such, before it looks at the code\(said(statement))")
        case .throttled(let statement, _):
            return CheckFinding(.warning, "\(asked) but takes no requests now\(said(statement))")
        case .notSent(let reason):
            return CheckFinding(.error, "token endpoint: \(endpoint) was not reached (\(reason.rawValue))")
        case .unknown(let reason, let statement):
            return CheckFinding(
                .error, "token endpoint: \(endpoint): no clear answer (\(reason.rawValue))\(said(statement))")
        case .unreadable(_, let statement):
            return CheckFinding(.error, "\(asked), but its answer cannot be read\(said(statement))")
        case .granted:
            return CheckFinding(
                .error, "\(asked) and gave tokens for a code that cannot be valid; they were thrown away")
        }
    }

    private func said(_ statement: ProviderStatement) -> String {
        guard statement.status != 0 else { return "" }
        let parts = [String(statement.status), statement.error, statement.errorDescription].compactMap(\.self)
        return ": " + parts.joined(separator: " ")
    }
}

/// A profile's recorded answers, read as the gateway reads live ones.
struct RecordedAnswers: Sendable {
    private let profile: ProfileSettings

    init(_ profile: ProfileSettings) { self.profile = profile }

    /// A line each, in the order of the profile.
    func findings(at now: Instant) -> [CheckFinding] {
        profile.examples.map { example in
            let read = reading(of: example, now: now)
            let sentence = "\(example.call.rawValue): \(example.title): "
            return read.contains(example.expected)
                ? CheckFinding(.ok, sentence + example.expected)
                : CheckFinding(.error, sentence + "read as \(read[0]), not as \(example.expected)")
        }
    }

    /// The words that the outcome may be called; there is at least one.
    private func reading(of example: ProfileSettings.AnswerExample, now: Instant) -> [String] {
        let answer = ProviderAnswer(
            status: example.status,
            headers: [("Content-Type", example.contentType)] + example.headers.map { ($0.name, $0.text) },
            body: Array(example.body.utf8))
        let rules = AnswerRules(profile)
        switch example.call {
        case .code, .refresh:
            let call: TokenReader.Call = example.call == .code ? .code : .refresh
            return words(TokenReader(rules).read(answer, to: call, sent: [], now: now))
        case .userinfo:
            let claims = profile.claims.compactMap(ProviderClients.ClaimRule.init)
            guard case .fetched(let fetched) = ProfileReader(claims, rules).read(answer, sent: []) else {
                return example.expected == "success" ? ["no profile"] : [example.expected]
            }
            let wrong = example.expectedClaims.first { text(fetched, $0.name) != $0.text }
            return [wrong.map { "a profile with another \($0.name)" } ?? "success"]
        }
    }

    private func words(_ outcome: TokenOutcome) -> [String] {
        switch outcome {
        case .granted: ["success"]
        case .rejected: ["grant_dead"]
        case .credentialsRefused: ["credentials"]
        case .requestRefused: ["request"]
        case .throttled: ["throttled", "not_processed"]
        case .notSent: ["not_processed"]
        case .unknown: ["unknown"]
        case .unreadable: ["unreadable"]
        }
    }

    private func text(_ profile: Profile, _ name: String) -> String? {
        switch ClaimName(rawValue: name).flatMap({ profile.claims[$0] }) {
        case .text(let text): text
        case .flag(let flag): String(flag)
        case .integer(let integer): String(integer)
        case nil: AddressPart(rawValue: name).flatMap { profile.address[$0] }
        }
    }
}
