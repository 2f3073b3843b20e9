// SPDX-License-Identifier: Apache-2.0
import NativeCrypto

/// The identifier and the secret with which a client shows who it is.
struct ClientCredentials: Equatable, Sendable {
    let identifier: String
    let secret: String

    init(identifier: String, secret: String) {
        self.identifier = identifier
        self.secret = secret
    }

    /// Those of an `Authorization: Basic …` field (RFC 7617); nil for another scheme, bad base64 or no colon.
    init?(basic field: String, encoding: BasicEncoding) {
        let parts = field.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "basic",
            let bytes = Base64.standard.bytes(of: String(parts[1])),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        let (identifier, secret) = (bytes[..<colon], bytes[(colon + 1)...])
        switch encoding {
        case .rfc6749:
            self.init(identifier: FormPairs.decode(identifier), secret: FormPairs.decode(secret))
        case .raw:
            self.init(
                identifier: String(decoding: identifier, as: UTF8.self),
                secret: String(decoding: secret, as: UTF8.self))
        }
    }
}
