// SPDX-License-Identifier: Apache-2.0
internal import Consents

extension TokenSet: SealedForm {
    func write(to form: inout FormWriter) {
        writeTokens(to: &form)
        form.text(5, nonce?.reveal())
        form.text(6, laterIDToken?.reveal())
    }

    init(from form: inout FormReader) throws(FormDamage) {
        try self.init(tokensFrom: &form)
        nonce = try form.text(5).map(SecretText.init)
        laterIDToken = try form.text(6).map(SecretText.init)
    }

    /// The first four fields, which an answer's form has too.
    func writeTokens(to form: inout FormWriter) {
        form.text(1, accessToken.reveal())
        form.text(2, tokenType)
        form.text(3, refreshToken?.reveal())
        form.text(4, idToken?.reveal())
    }

    init(tokensFrom form: inout FormReader) throws(FormDamage) {
        self.init(
            accessToken: SecretText(try form.text(1).orDamage()), tokenType: try form.text(2).orDamage(),
            refreshToken: try form.text(3).map(SecretText.init), idToken: try form.text(4).map(SecretText.init))
    }
}

extension Profile: SealedForm {
    func write(to form: inout FormWriter) {
        form.nest(1) { form in
            for (name, value) in claims { form.nest(1) { value.write(to: &$0, as: name.rawValue) } }
        }
        form.nest(2) { form in
            for (part, text) in address { form.nest(1) { ClaimValue.text(text).write(to: &$0, as: part.rawValue) } }
        }
    }

    /// A claim of a name that is not known is skipped.
    init(from form: inout FormReader) throws(FormDamage) {
        self.init()
        var claims = try form.nested(1).orDamage()
        while var claim = try claims.nested(1) {
            let name = ClaimName(rawValue: try claim.text(1).orDamage())
            let value = try ClaimValue(from: &claim)
            if let name { self.claims[name] = value }
        }
        var address = try form.nested(2).orDamage()
        while var entry = try address.nested(1) {
            let part = AddressPart(rawValue: try entry.text(1).orDamage())
            let text = try entry.text(2).orDamage()
            if let part { self.address[part] = text }
        }
    }
}

extension ClaimValue {
    fileprivate func write(to form: inout FormWriter, as name: String) {
        form.text(1, name)
        switch self {
        case .text(let text): form.text(2, text)
        case .flag(let flag): form.flag(3, flag)
        case .integer(let number): form.integer(4, number)
        }
    }

    fileprivate init(from form: inout FormReader) throws(FormDamage) {
        if let text = try form.text(2) {
            self = .text(text)
        } else if let flag = try form.flag(3) {
            self = .flag(flag)
        } else {
            self = .integer(try form.integer(4).orDamage())
        }
    }
}

extension ProviderStatement: SealedForm {
    func write(to form: inout FormWriter) {
        form.integer(1, Int64(status))
        form.text(2, error)
        form.text(3, errorDescription)
        form.text(4, correlationID)
    }

    init(from form: inout FormReader) throws(FormDamage) {
        self.init(
            status: Int(try form.integer(1).orDamage()), error: try form.text(2), errorDescription: try form.text(3),
            correlationID: try form.text(4))
    }
}

/// The salts and values behind the digests of an event.
struct PersonalValues: SealedForm {
    var values: [(name: String, salt: [UInt8], value: SecretText)]

    init() { values = [] }

    func write(to form: inout FormWriter) {
        for (name, salt, value) in values {
            form.nest(1) { form in
                form.text(1, name)
                form.bytes(2, salt)
                form.text(3, value.reveal())
            }
        }
    }

    init(from form: inout FormReader) throws(FormDamage) {
        self.init()
        while var entry = try form.nested(1) {
            let name = try entry.text(1).orDamage()
            let salt = Array(try entry.bytes(2).orDamage())
            values.append((name, salt, SecretText(try entry.text(3).orDamage())))
        }
    }
}
