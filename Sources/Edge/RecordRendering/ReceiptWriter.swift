// SPDX-License-Identifier: Apache-2.0
package import Consents
import NativeCrypto
package import NativeJSON

/// Writes receipts as a document or signed, and tells the keys that signatures are checked with.
package struct ReceiptWriter: Sendable {
    private let base: String
    private let keys: any EvidenceKeys

    /// - Parameters:
    ///   - base: where the gateway is reached, without a slash at the end: what receipts call themselves and their
    ///     issuer by.
    package init(base: String, keys: any EvidenceKeys) {
        self.base = base
        self.keys = keys
    }

    package func json(of receipt: ConsentReceipt) -> JSONValue { ReceiptJSON.value(of: receipt, base: base) }

    /// A JSON Web Token (RFC 7519) in the compact form, signed with ES256: the document, and beside it `iss` and `iat`.
    /// Its `typ` keeps it from being taken for a token of another kind (RFC 8725, section 3.11).
    /// - Throws: `VaultFailure` where the ring's key cannot sign.
    package func token(of receipt: ConsentReceipt) throws(VaultFailure) -> String {
        let signer = keys.evidenceSigner
        let header: JSONValue = [
            "alg": "ES256", "kid": JSONValue(signer.keyID), "typ": "consent-receipt+jwt",
        ]
        var payload = json(of: receipt)
        payload.set("iss", base)
        payload.set("iat", receipt.issuedAt.milliseconds / 1000)
        let signed = [header, payload].map { Base64.urlSafe.text(of: $0.serialized(.compact)) }.joined(separator: ".")
        let signature = try signer.signature(over: Array(signed.utf8))
        return signed + "." + Base64.urlSafe.text(of: signature)
    }

    /// A JWK Set (RFC 7517, section 5): the key that signs first, then those that signed before.
    package func keySet() -> JSONValue {
        let members = keys.evidenceSigner.publicKeys.map { key -> JSONValue in
            [
                "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": JSONValue(key.keyID),
                "x": JSONValue(Base64.urlSafe.text(of: key.x)), "y": JSONValue(Base64.urlSafe.text(of: key.y)),
            ]
        }
        return ["keys": .array(members)]
    }
}
