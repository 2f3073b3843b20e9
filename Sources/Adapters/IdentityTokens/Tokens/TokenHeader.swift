// SPDX-License-Identifier: Apache-2.0
import NativeJOSE
import NativeJSON

/// What counts in a token's header, refused where it holds what must not be there.
struct TokenHeader {
    /// `alg` as it stands there.
    let algorithm: String
    let keyID: String?
    let type: String?

    /// - Throws: `header`, `unsigned`, `embeddedKey`, `extended`.
    init(_ header: JSONValue) throws(TokenFault) {
        guard let algorithm = header["alg"]?.string, !algorithm.isEmpty else { throw .header }
        // Whatever is understood of an extension or an embedded key, it is the sender's (RFC 8725, section 3.10).
        if header["crit"] != nil || header["b64"] != nil { throw .extended }
        if ["jwk", "jku", "x5u", "x5c"].contains(where: { header[$0] != nil }) { throw .embeddedKey }
        keyID = try Self.text("kid", of: header)
        type = try Self.text("typ", of: header)
        let lower = algorithm.utf8.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
        if lower == Array("none".utf8) { throw .unsigned }
        self.algorithm = algorithm
    }

    private static func text(_ name: String, of header: JSONValue) throws(TokenFault) -> String? {
        guard let value = header[name] else { return nil }
        guard let text = value.string, text.utf8.count <= 512 else { throw .header }
        return text
    }

    /// The algorithm's name as it may be shown: a registered one, for anything may stand there, what was sent in
    /// confidence too.
    var shownAlgorithm: String { TokenHeader.registered.contains(algorithm) ? algorithm : "of no known name" }

    /// JSON Web Signature and Encryption Algorithms (IANA), those of signatures.
    private static let registered: Set<String> = [
        "none", "HS256", "HS384", "HS512", "RS1", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256",
        "ES384", "ES512", "ES256K", "EdDSA", "Ed25519", "Ed448", "ESP256", "ESP384", "ESP512", "ML-DSA-44", "ML-DSA-65",
        "ML-DSA-87",
    ]
}
