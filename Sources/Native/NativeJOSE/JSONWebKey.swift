// SPDX-License-Identifier: Apache-2.0
internal import NativeCrypto
package import NativeJSON

/// A public key with what its owner says about it (RFC 7517, section 4).
package struct JSONWebKey: Sendable {
    package let key: VerificationKey
    /// `kid`, if it has a name.
    package let id: String?
    /// `alg`, if it is for one only.
    package let algorithm: String?
    /// `use`.
    package let use: String?
    /// `key_ops`.
    package let operations: [String]?

    package init(key: VerificationKey, id: String?, algorithm: String?, use: String?, operations: [String]?) {
        self.key = key
        self.id = id
        self.algorithm = algorithm
        self.use = use
        self.operations = operations
    }

    /// The key of one JWK. Private members are not looked at; nor are certificates.
    /// - Throws: ``KeyRefusal``.
    package init(_ jwk: JSONValue) throws(KeyRefusal) {
        switch jwk["kty"]?.string {
        case "RSA":
            key = try .rsa(modulus: Self.number("n", of: jwk), exponent: Self.number("e", of: jwk))
        case "EC":
            guard let curve = jwk["crv"]?.string else { throw .malformed }
            key = try .ec(curve: curve, x: Self.number("x", of: jwk), y: Self.number("y", of: jwk))
        case "OKP":
            guard jwk["crv"]?.string == "Ed25519" else { throw .unknownKind }
            key = try .ed25519(Self.number("x", of: jwk))
        default: throw .unknownKind
        }
        id = try Self.text("kid", of: jwk)
        algorithm = try Self.text("alg", of: jwk)
        use = try Self.text("use", of: jwk)
        operations = jwk["key_ops"]?.array?.compactMap { $0.string }
    }

    /// Base64url of a number. Padding is passed over: keys in the field have it.
    private static func number(_ name: String, of jwk: JSONValue) throws(KeyRefusal) -> [UInt8] {
        guard let text = jwk[name]?.string, text.utf8.count <= 4096 else { throw .malformed }
        let bare = text.utf8.reversed().drop { $0 == UInt8(ascii: "=") }.reversed()
        guard let bytes = Base64.urlSafe.bytes(of: String(decoding: Array(bare), as: UTF8.self)), !bytes.isEmpty
        else { throw .malformed }
        return bytes
    }

    private static func text(_ name: String, of jwk: JSONValue) throws(KeyRefusal) -> String? {
        guard let text = jwk[name]?.string else { return nil }
        guard text.utf8.count <= 512 else { throw .tooLong }
        return text
    }

    /// Whether its owner means it to verify signatures of that algorithm, and it can.
    package func isMeant(for algorithm: JOSEAlgorithm) -> Bool {
        algorithm.fits(key.kind) && (self.algorithm.map { JOSEAlgorithm(name: $0) == algorithm } ?? true)
            && (use ?? "sig") == "sig" && (operations?.contains("verify") ?? true)
    }
}

/// The public keys of one issuer (RFC 7517, section 5).
package struct JSONWebKeySet: Sendable {
    package static let most = 100
    package static let longest = 256 << 10

    package let keys: [JSONWebKey]
    /// Those that are not understood or not to be used, with their names.
    package let passedOver: [PassedOverKey]
    /// Those beyond the first 100, of which one is looked at where a token names it.
    private let further: [JSONValue]

    /// How many more the document has.
    package var furtherCount: Int { further.count }

    package struct PassedOverKey: Sendable, Equatable {
        package let id: String?
        package let reason: KeyRefusal
    }

    package init(keys: [JSONWebKey], passedOver: [PassedOverKey] = []) {
        self.init(keys: keys, passedOver: passedOver, further: [])
    }

    private init(keys: [JSONWebKey], passedOver: [PassedOverKey], further: [JSONValue]) {
        self.keys = keys
        self.passedOver = passedOver
        self.further = further
    }

    /// Those of that name beyond the first 100: four at most.
    package func further(named id: String) -> [JSONWebKey] {
        further.lazy.filter { $0["kid"]?.string.map { Array($0.utf8) == Array(id.utf8) } ?? false }
            .prefix(4).compactMap { try? JSONWebKey($0) }
    }

    /// The set that a document holds. A key that is not understood costs no other one; of more than 100 keys the rest
    /// is looked at by name only. There may be no key left that can be used.
    /// - Throws: ``KeySetFault``.
    package init(document: [UInt8]) throws(KeySetFault) {
        guard document.count <= Self.longest else { throw .tooLong }
        let json: JSONValue
        do throws(JSONError) { json = try JSONValue.parse(document, as: .providers) } catch { throw .notJSON }
        guard let elements = json["keys"]?.array else { throw .noKeys }
        var keys: [JSONWebKey] = []
        var passedOver: [PassedOverKey] = []
        for element in elements.prefix(Self.most) {
            do throws(KeyRefusal) { keys.append(try JSONWebKey(element)) } catch {
                let id = element["kid"]?.string
                passedOver.append(PassedOverKey(id: (id?.utf8.count ?? 0) <= 512 ? id : nil, reason: error))
            }
        }
        self.init(keys: keys, passedOver: passedOver, further: Array(elements.dropFirst(Self.most)))
    }
}

/// Why a document is no set of keys.
package enum KeySetFault: String, Error, Sendable, CustomStringConvertible {
    case tooLong = "the key set is longer than 256 KiB"
    case notJSON = "the key set is no JSON"
    case noKeys = "the document has no member `keys` that is an array"

    package var description: String { rawValue }
}
