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

    /// The algorithm's name as it may be shown: whatever is no name of one is not repeated.
    var shownAlgorithm: String {
        let isName =
            (1...20).contains(algorithm.utf8.count)
            && algorithm.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x5F: true
                default: false
                }
            }
        return isName ? algorithm : "of no known name"
    }
}
