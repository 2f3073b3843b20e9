// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Consents
import IdentityTokens
import NativeCrypto
import NativeCurl
import NativeJOSE
import NativeJSON
import NativeSystem
import ProviderClients
import Settings

/// How the client shows a provider who it is, of what the settings and their files hold now.
struct ClientCredentials: Sendable {
    /// In the order in which they are tried; one method in all of them.
    let authentications: [ClientAuthentication]
    /// For `tls_client_auth`.
    let certificate: CertificateFile?
    /// For `private_key_jwt`, the newest first: that one signs, and one before only while the provider does not know it.
    let keys: [AssertionKey]

    /// A certificate with its chain, and its private key, in PEM.
    struct CertificateFile: Sendable {
        let certificate: [UInt8]
        let privateKey: [UInt8]
    }

    /// For whoever only looks at a provider's addresses.
    static let unread = ClientCredentials(authentications: [.none], certificate: nil, keys: [])

    private init(authentications: [ClientAuthentication], certificate: CertificateFile?, keys: [AssertionKey]) {
        self.authentications = authentications
        self.certificate = certificate
        self.keys = keys
    }

    /// - Throws: `StartFailure` with status 3 for a key or certificate that cannot be used.
    init(of provider: ProviderSettings, time: any Timekeeper, entropy: any Entropy) throws(StartFailure) {
        let client = provider.client
        let secrets = client.secrets.map { SecretText($0.reveal()) }
        switch client.authentication {
        case .basic:
            let encoding: BasicEncoding = client.basicEncoding == .raw ? .raw : .rfc6749
            self.init(
                authentications: secrets.map { .basic(secret: $0, encoding: encoding) }, certificate: nil, keys: [])
        case .post:
            self.init(authentications: secrets.map { .post(secret: $0) }, certificate: nil, keys: [])
        case .none:
            self = .unread
        case .tls:
            self.init(
                authentications: [.certificate], certificate: try CertificateFile(of: provider), keys: [])
        case .privateKeyJWT:
            let keys = try ClientCredentials.keys(of: provider)
            let issuer = client.assertionAudience == .issuer ? provider.issuer : nil
            let assertions = keys.map { key in
                ClientAuthentication.assertion { endpoint in
                    let (high, low) = entropy.randomBits()
                    return ClientAssertion(key: key, clientID: client.id, audience: issuer ?? endpoint)
                        .make(now: time.now, id: Hexadecimal.text(of: high, low))
                }
            }
            self.init(authentications: assertions, certificate: nil, keys: keys)
        }
    }

    /// Whether the provider's keys or certificate can be used.
    /// - Returns: what signs assertions, the newest first.
    static func check(_ provider: ProviderSettings) throws(StartFailure) -> [AssertionKey] {
        switch provider.client.authentication {
        case .privateKeyJWT: return try keys(of: provider)
        case .tls: _ = try CertificateFile(of: provider)
        case .basic, .post, .none: break
        }
        return []
    }

    private static func keys(of provider: ProviderSettings) throws(StartFailure) -> [AssertionKey] {
        let secrets = provider.client.privateKeys
        var keys: [AssertionKey] = []
        for (index, secret) in secrets.enumerated() {
            let place = secrets.count > 1 ? "private_keys[\(index)]" : "private_key"
            keys.append(try key(secret, "providers.\(provider.name).\(place)", of: provider))
        }
        return keys
    }

    private static func key(
        _ secret: SettingsSecret, _ place: String, of provider: ProviderSettings
    ) throws(StartFailure) -> AssertionKey {
        var pem = Array(secret.reveal().utf8)
        defer { wipe(&pem) }
        do throws(AssertionKeyRefusal) {
            return try AssertionKey(
                pem: pem, algorithm: provider.client.signingAlgorithm.flatMap { JOSEAlgorithm(rawValue: $0.rawValue) })
        } catch {
            throw StartFailure("\(place): \(error)", .configuration)
        }
    }

    /// What this certificate is shown with.
    var identity: CurlClientIdentity? {
        certificate.map { CurlClientIdentity(certificate: $0.certificate, privateKey: $0.privateKey) }
    }
}

extension ClientCredentials.CertificateFile {
    private static let largest = 1 << 20

    /// The certificate's own file holds its key too, unless the settings give it.
    init(of provider: ProviderSettings) throws(StartFailure) {
        let path = provider.client.certificatePath ?? ""
        let place = "providers.\(provider.name).client_certificate"
        let key = provider.client.privateKeys.first.map { Array($0.reveal().utf8) }
        if key == nil {
            certificate = try Self.readPrivately(path, place)
        } else {
            do throws(FileReadingFailure) { certificate = try readFile(at: path, limit: Self.largest).bytes } catch {
                throw StartFailure("\(place) \(path): \(error.sentence)", .configuration)
            }
        }
        privateKey = key ?? certificate
        do throws(CertificateRefusal) {
            try checkPair(certificate: certificate, privateKey: privateKey)
        } catch {
            throw StartFailure("\(place) \(path): \(error)", .configuration)
        }
    }

    /// A file with a key in it is nobody else's to read.
    private static func readPrivately(_ path: String, _ place: String) throws(StartFailure) -> [UInt8] {
        do throws(PrivateFileFailure) { return try readServerKey(at: path, limit: largest) } catch {
            throw StartFailure("\(place) \(path): \(error.sentence)", .configuration)
        }
    }
}

/// The public keys of the clients' assertions: what stands at `/.well-known/jwks.json`.
final class ClientKeys: Sendable {
    private let keys: Locked<[String: [AssertionKey]]>

    init(_ keys: [String: [AssertionKey]]) { self.keys = Locked(keys) }

    /// - Parameter name: of the provider that the keys are for.
    func take(_ keys: [AssertionKey], for name: String) { self.keys.withLock { $0[name] = keys } }

    /// A JWK Set (RFC 7517, section 5); a key that several providers know stands there once.
    var set: JSONValue {
        let all = keys.withLock { $0 }.sorted { $0.key < $1.key }.flatMap(\.value)
        var seen: Set<String> = []
        let jwks = all.filter { seen.insert("\($0.keyID) \($0.algorithm.rawValue)").inserted }.map(\.publicJWK)
        return JSONValue(dictionaryLiteral: ("keys", .array(jwks)))
    }
}
