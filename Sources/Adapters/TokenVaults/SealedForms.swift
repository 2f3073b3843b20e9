// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeJSON

/// How values look under their seals: compact JSON with its version in `v`.
///
/// A later program reads what an earlier one wrote: members are added, never renamed; one that is not known is skipped.
/// `v` rises only where an earlier program could not read the rest.
enum SealedForm {
    static let version: Int64 = 1

    /// An object that begins with its version.
    static func object() -> JSONValue { ["v": JSONValue(version)] }

    /// The object that those bytes hold; nil for anything else and for a later version.
    ///
    /// Read as a provider's document: a token may contain U+0000.
    static func read(_ bytes: [UInt8]) -> JSONValue? {
        guard let value = try? JSONValue.parse(bytes, as: .providers), let found = value["v"]?.integer,
            (1...version).contains(found)
        else { return nil }
        return value
    }

    /// Skips nil: an absent member and a null mean the same, and take no room.
    static func set(_ name: String, _ text: String?, in object: inout JSONValue) {
        if let text { object.set(name, text) }
    }
}

extension TokenSet {
    var sealedForm: JSONValue { filled(SealedForm.object()) }

    func filled(_ start: JSONValue) -> JSONValue {
        var object = start
        object.set("access_token", accessToken.reveal())
        object.set("token_type", tokenType)
        SealedForm.set("refresh_token", refreshToken?.reveal(), in: &object)
        SealedForm.set("id_token", idToken?.reveal(), in: &object)
        return object
    }

    init?(sealedForm object: JSONValue) {
        guard let access = object["access_token"]?.string, let type = object["token_type"]?.string else { return nil }
        self.init(
            accessToken: SecretText(access), tokenType: type,
            refreshToken: object["refresh_token"]?.string.map(SecretText.init),
            idToken: object["id_token"]?.string.map(SecretText.init))
    }
}

extension Profile {
    var sealedForm: JSONValue {
        var claims = JSONValue.object()
        for (name, value) in self.claims {
            switch value {
            case .text(let text): claims.set(name.rawValue, text)
            case .flag(let flag): claims.set(name.rawValue, flag)
            case .integer(let number): claims.set(name.rawValue, number)
            }
        }
        var address = JSONValue.object()
        for (part, text) in self.address { address.set(part.rawValue, text) }
        var object = SealedForm.object()
        object.set("claims", claims)
        object.set("address", address)
        return object
    }

    init?(sealedForm object: JSONValue) {
        guard let claims = object["claims"], claims.kind == .object, let address = object["address"],
            address.kind == .object
        else { return nil }
        self.init()
        for (name, value) in claims.members {
            guard let name = ClaimName(rawValue: name) else { continue }
            switch value.kind {
            case .string: self.claims[name] = value.string.map(ClaimValue.text)
            case .boolean: self.claims[name] = value.boolean.map(ClaimValue.flag)
            case .integer: self.claims[name] = value.integer.map(ClaimValue.integer)
            default: continue
            }
        }
        for (name, value) in address.members {
            if let part = AddressPart(rawValue: name), let text = value.string { self.address[part] = text }
        }
    }
}

extension ProviderStatement {
    var sealedForm: JSONValue {
        var object = SealedForm.object()
        object.set("status", status)
        SealedForm.set("error", error, in: &object)
        SealedForm.set("error_description", errorDescription, in: &object)
        SealedForm.set("correlation_id", correlationID, in: &object)
        return object
    }

    init?(sealedForm object: JSONValue) {
        guard let status = object["status"]?.integer else { return nil }
        self.init(
            status: Int(status), error: object["error"]?.string,
            errorDescription: object["error_description"]?.string,
            correlationID: object["correlation_id"]?.string)
    }
}
