// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeJSON

/// The body of `POST /v1/consents/{id}/access-token`: `{"min_ttl": 60, "rejected": "SHA-256 hex"?}`,
/// each with its default; no body is an empty one.
struct AccessTokenBody: Sendable {
    /// Seconds of life that must be left; 60 where nobody says.
    let minimumLife: Duration
    /// Lower-case hexadecimal.
    let rejected: String?

    /// - Throws: `Problem` 400 that names the member.
    init(_ bytes: [UInt8]) throws(Problem) {
        var body: JSONValue = [:]
        if !bytes.isEmpty {
            do { body = try JSONValue.parse(bytes, as: .callers) } catch {
                throw .invalidRequest("the body: \(error).")
            }
        }
        guard body.kind == .object else { throw .invalidRequest("the body must be a JSON object.") }
        if let member = body["min_ttl"], !member.isNull {
            guard let seconds = member.integer, (0...3_153_600_000).contains(seconds) else {
                throw .invalidRequest("min_ttl: it must be a whole number of seconds.")
            }
            minimumLife = .seconds(seconds)
        } else {
            minimumLife = .seconds(60)
        }
        if let member = body["rejected"], !member.isNull {
            guard let text = member.string?.lowercased(), Hexadecimal.bytes(of: text)?.count == 32 else {
                throw .invalidRequest("rejected: it must be the token's SHA-256 in hexadecimal.")
            }
            rejected = text
        } else {
            rejected = nil
        }
    }
}
