// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Consents
import IdentityTokens
import NativeCurl
import NativeJOSE
import NativeJSON
import Observability
import ProviderClients
import Settings

/// What a configured issuer brings: where the endpoints are that the configuration leaves to it, and the checks of what
/// it signs. Nothing is asked before somebody needs it.
struct ProviderIssuers: Sendable {
    let metadata: IssuerMetadata
    let keys: IssuerKeys
    let issuer: ProviderIssuer
    let clock: ProviderClock
    private let settings: ProviderSettings
    private let time: any Timekeeper

    /// How long a document may take, so that whoever waits for a code's answer still gets one.
    private static func timeout(_ settings: ProviderSettings) -> Duration { settings.timeouts.total / 2 }

    /// - Parameter tell: hears of each fetch when it ends.
    /// - Returns: nil for a provider without an issuer.
    /// - Throws: `StartFailure` for one that cannot be asked.
    init?(
        _ settings: ProviderSettings, time: any Timekeeper, launcher: any TaskLauncher,
        client: @escaping @Sendable () -> CurlClient?,
        tell: @escaping @Sendable (IssuerDocument, DocumentFault?) -> Void
    ) throws(StartFailure) {
        guard let name = settings.issuer else { return nil }
        guard let rule = EndpointRule(issuer: name, allowedHosts: settings.connection.allowHosts) else {
            throw StartFailure("providers.\(settings.name).issuer: it is no URL that may be asked", .configuration)
        }
        let clock = ProviderClock(time: time)
        let source = CurlDocuments(
            connectTimeout: settings.timeouts.connect, timeout: ProviderIssuers.timeout(settings), clock: clock,
            client: client)
        let metadata = IssuerMetadata(
            issuer: name, rule: rule, source: source, limits: .usual, time: time, launcher: launcher,
            tell: { tell(.discovery, $0) })
        let configured = settings.endpoints.jwks.map { ProviderURL(text: $0, addresses: .any) }
        let keys = IssuerKeys(
            at: {
                if let configured { return .success(configured) }
                return await metadata.place(.keys)
            }, source: source, limits: .usual, time: time, launcher: launcher,
            tell: { tell(.keys, $0) })
        self.metadata = metadata
        self.keys = keys
        self.clock = clock
        self.settings = settings
        self.time = time
        issuer = ProviderIssuer(
            try ProviderIssuers.judges(name, settings, secretsOf: settings, metadata, keys, time: time),
            attributes: ProviderIssuers.attributes(settings, metadata))
    }

    /// What an ID token tells of a person by the provider's claim rules, where there is no userinfo endpoint.
    private static func attributes(
        _ settings: ProviderSettings, _ metadata: IssuerMetadata
    ) -> @Sendable (JSONValue) async -> Profile? {
        if settings.endpoints.userinfo != nil { return { _ in nil } }
        let reader = ProfileReader(
            settings.profile.claims.compactMap(ProviderClients.ClaimRule.init),
            AnswerRules(settings.profile, scopes: settings.scopes))
        let showsCertificate = settings.client.authentication == .tls
        return { [usesDiscovery = settings.usesDiscovery] claims in
            if usesDiscovery {
                guard case .success(let found) = await metadata.current(),
                    found.place(.userinfo, showingCertificate: showsCertificate) == nil,
                    found.refused[.userinfo] == nil
                else { return nil }
            }
            return reader.attributes(of: claims)
        }
    }

    /// The same checks with the client's secrets as they are now.
    func judges(secretsOf other: ProviderSettings) throws(StartFailure) -> [ProviderIdentities] {
        try ProviderIssuers.judges(
            settings.issuer ?? "", settings, secretsOf: other, metadata, keys, time: time)
    }

    private static func judges(
        _ name: String, _ settings: ProviderSettings, secretsOf other: ProviderSettings, _ metadata: IssuerMetadata,
        _ keys: IssuerKeys, time: any Timekeeper
    ) throws(StartFailure) -> [ProviderIdentities] {
        let algorithms = Set(settings.idTokenAlgorithms.compactMap(JOSEAlgorithm.init(rawValue:)))
        return try secrets(other, algorithms).map { secret in
            ProviderIdentities(
                issuer: settings.usesDiscovery ? .discovered(metadata) : .configured(name), keys: keys,
                clientID: settings.client.id, trustedAudiences: settings.trustedAudiences, algorithms: algorithms,
                secret: secret, time: time)
        }
    }

    /// The client's secrets as keys of HS256, one nil where that is not allowed.
    private static func secrets(
        _ settings: ProviderSettings, _ algorithms: Set<JOSEAlgorithm>
    ) throws(StartFailure) -> [ClientSecretMAC?] {
        guard algorithms.contains(.hs256) else { return [nil] }
        var secrets: [ClientSecretMAC?] = []
        for secret in settings.client.secrets {
            do throws(SecretRefusal) { secrets.append(try ClientSecretMAC(secret: Array(secret.reveal().utf8))) } catch
            {
                throw StartFailure("providers.\(settings.name).id_token_algorithms: \(error)", .configuration)
            }
        }
        return secrets.isEmpty ? [nil] : secrets
    }

    /// What its client is made with.
    var trust: ProviderTrust {
        ProviderTrust(
            identity: settings.idToken == .ignored ? nil : issuer, places: settings.usesDiscovery ? places : nil,
            signedProfiles: { [issuer] token in
                switch await issuer.claims(ofUserinfo: token) {
                case .claims(let claims): .claims(claims)
                case .untrusted(let reason): .untrusted(reason)
                case .keysUnavailable: .unavailable
                }
            }, issuer: { [settings, metadata] in await ProviderIssuers.name(settings, metadata) })
    }

    /// As ID tokens must have it: by the metadata where those are asked for, which may differ from the configuration by
    /// a slash at the end.
    private static func name(_ settings: ProviderSettings, _ metadata: IssuerMetadata) async -> AnsweringIssuer {
        guard settings.usesDiscovery else { return settings.issuer.map(AnsweringIssuer.named) ?? .notConfigured }
        guard case .success(let found) = await metadata.current() else { return .unavailable }
        return .named(found.issuer)
    }

    /// The configuration's word goes before the issuer's.
    private var places: ProviderPlaces {
        ProviderPlaces { [settings, metadata] endpoint in
            let (given, name) =
                switch endpoint {
                case .token: (settings.endpoints.token, ProviderMetadata.Endpoint.token)
                case .userinfo: (settings.endpoints.userinfo, .userinfo)
                case .revocation: (settings.endpoints.revocation, .revocation)
                }
            if let given { return .at(given, .any) }
            switch await metadata.current() {
            case .failure: return .unavailable
            case .success(let found):
                return found.place(name, showingCertificate: settings.client.authentication == .tls)
                    .map { .at($0.text, $0.addresses) } ?? .none
            }
        }
    }

    /// The endpoints as they are used; nil where the issuer cannot be asked now.
    var endpoints: ProviderEndpoints? {
        get async {
            var endpoints = settings.endpoints
            guard settings.usesDiscovery else { return endpoints }
            guard case .success(let found) = await metadata.current() else { return nil }
            func text(_ name: ProviderMetadata.Endpoint) -> String? {
                found.place(name, showingCertificate: settings.client.authentication == .tls)?.text
            }
            endpoints.token = endpoints.token ?? text(.token)
            endpoints.userinfo = endpoints.userinfo ?? text(.userinfo)
            endpoints.revocation = endpoints.revocation ?? text(.revocation)
            return endpoints
        }
    }

    /// Asks for what will be needed, so that the first person does not wait for it.
    /// - Returns: why it cannot be had now; nil where it is there or nothing is needed.
    func prepare() async -> DocumentFault? {
        if settings.usesDiscovery, case .failure(let fault) = await metadata.current() { return fault }
        if settings.idToken != .ignored, case .failure(let fault) = await keys.current() { return fault }
        return nil
    }
}

extension ProviderSettings {
    /// Whether the issuer is asked where its endpoints are: where the configuration does not say what is needed.
    var usesDiscovery: Bool {
        issuer != nil && (endpoints.token == nil || (idToken != .ignored && endpoints.jwks == nil))
    }
}
