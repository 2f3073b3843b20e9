// SPDX-License-Identifier: Apache-2.0
internal import NativeCrypto
package import NativeJSON

/// A signed token in compact form, taken apart and not verified (RFC 7515, section 7.1). Harmless when printed.
///
/// Each part must be canonical base64url, header and payload are read by whoever wants them. What is here was written
/// by whoever sent it.
package struct CompactJWS: Sendable {
    /// As it came.
    let bytes: [UInt8]
    /// A JSON object whose names differ.
    package let header: JSONValue
    package let payload: [UInt8]
    let signature: [UInt8]

    /// - Throws: ``CompactJWSFault``.
    package init(_ text: String, limit: Int = 64 << 10) throws(CompactJWSFault) {
        guard text.utf8.count <= limit else { throw .tooLong }
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .parts(parts.count) }
        guard let head = Base64.urlSafe.bytes(of: String(Substring(parts[0]))),
            let payload = Base64.urlSafe.bytes(of: String(Substring(parts[1]))),
            let signature = Base64.urlSafe.bytes(of: String(Substring(parts[2])))
        else { throw .encoding }
        let header: JSONValue
        do throws(JSONError) { header = try JSONValue.parse(head, as: .callers) } catch {
            if case .duplicateKey = error { throw .duplicateMember }
            throw .header
        }
        // A byte-order mark would be passed over, and be read as something else by others.
        guard header.kind == .object, head.first != 0xEF else { throw .header }
        bytes = Array(text.utf8)
        self.header = header
        self.payload = payload
        self.signature = signature
    }

    /// What the header says; nil where there is none or it is no string.
    package var algorithm: String? { header["alg"]?.string }
    package var keyID: String? { header["kid"]?.string }

    /// ASCII(header '.' payload), as it came (RFC 7515, section 5.2, step 8).
    var signedBytes: [UInt8] {
        let end = bytes.lastIndex(of: UInt8(ascii: ".")) ?? bytes.endIndex
        return Array(bytes[..<end])
    }
}

extension CompactJWS: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "a signed token" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// Why a text is no signed token in compact form.
package enum CompactJWSFault: Error, Sendable, Equatable {
    case tooLong
    /// Divided by dots into another number than three; five are an encrypted token.
    case parts(Int)
    /// A part is not canonical base64url: another alphabet, padding, bits left over.
    case encoding
    /// The header is no JSON object.
    case header
    /// A name stands twice in the header.
    case duplicateMember
}
