// SPDX-License-Identifier: Apache-2.0
import Consents
package import NativeJSON

/// The claims of a token whose signature was verified (RFC 7519, section 4). A claim that is null is not there.
///
/// Each reader refuses a value of another type, so that what is checked is what others will read.
package struct ClaimSet: Sendable {
    /// An object whose names differ at every level.
    package let json: JSONValue

    /// - Throws: `payload`, `duplicateMember`.
    init(_ payload: [UInt8]) throws(TokenFault) {
        do throws(JSONError) { json = try JSONValue.parse(payload, as: .callers) } catch {
            if case .duplicateKey = error { throw .duplicateMember }
            throw .payload
        }
        guard json.kind == .object, payload.first != 0xEF else { throw .payload }
    }

    private func value(_ name: String) -> JSONValue? {
        guard let value = json[name], !value.isNull else { return nil }
        return value
    }

    func has(_ claim: TokenClaim) -> Bool { value(claim.rawValue) != nil }

    /// - Throws: `malformed` for what is no string.
    func text(_ claim: TokenClaim) throws(TokenFault) -> String? { try text(claim.rawValue, as: claim) }

    func text(_ name: String, as claim: TokenClaim) throws(TokenFault) -> String? {
        guard let value = value(name) else { return nil }
        guard let text = value.string else { throw .malformed(claim) }
        return text
    }

    /// - Throws: `missing`, `malformed`.
    func requiredText(_ claim: TokenClaim) throws(TokenFault) -> String {
        guard let text = try text(claim) else { throw .missing(claim) }
        return text
    }

    /// A NumericDate (RFC 7519, section 2), with a fraction or not; what lies beyond 290 million years is held there.
    /// - Throws: `malformed` for what is no number.
    func instant(_ claim: TokenClaim) throws(TokenFault) -> Instant? {
        guard let value = value(claim.rawValue) else { return nil }
        guard let seconds = value.real else { throw .malformed(claim) }
        let bounded = min(max(seconds, -9e15), 9e15)
        return Instant(milliseconds: Int64((bounded * 1000).rounded(.down)))
    }

    /// - Throws: `missing`, `malformed`.
    func requiredInstant(_ claim: TokenClaim) throws(TokenFault) -> Instant {
        guard let instant = try instant(claim) else { throw .missing(claim) }
        return instant
    }

    /// `aud`: a string, or an array of 1 to 100 strings.
    /// - Throws: `malformed`.
    func audiences() throws(TokenFault) -> [String]? {
        guard let value = value(TokenClaim.aud.rawValue) else { return nil }
        if let text = value.string { return [text] }
        guard let elements = value.array, (1...100).contains(elements.count) else { throw .malformed(.aud) }
        let texts = elements.compactMap { $0.string }
        guard texts.count == elements.count else { throw .malformed(.aud) }
        return texts
    }

    /// `sub`: 1 to 255 bytes without control characters (OpenID Connect Core, section 2, allows ASCII only; compared byte
    /// for byte).
    /// - Throws: `missing`, `malformed`.
    func subject() throws(TokenFault) -> String {
        let text = try requiredText(.sub)
        guard Subject(text) != nil else { throw .malformed(.sub) }
        return text
    }
}

extension ClaimSet: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "\(json.count) claims" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

extension String {
    /// Byte for byte: Swift takes two spellings of one letter for the same.
    func isSame(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
