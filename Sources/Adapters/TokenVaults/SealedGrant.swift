// SPDX-License-Identifier: Apache-2.0
internal import Consents

extension KeptGrant: SealedForm {
    func write(to form: inout FormWriter) {
        form.nest(1) { answer.write(to: &$0) }
        form.text(2, provider.name)
        form.text(3, provider.environment)
        form.text(4, issuer.clientID)
        form.text(5, issuer.tokenEndpoint)
        form.text(6, subject.text)
        form.texts(7, requested.names)
        if let client { form.nest(8) { client.write(to: &$0) } }
        form.text(9, notice?.text)
        form.flag(10, notice?.isAssumed)
        form.text(11, caller)
        form.text(12, requestID)
        form.integer(13, issuedAt.milliseconds)
        if let identity { form.nest(14) { identity.write(to: &$0) } }
    }

    convenience init(from form: inout FormReader) throws(FormDamage) {
        var answer = try form.nested(1).orDamage()
        self.init(
            answer: try TokenAnswer(from: &answer),
            provider: ProviderKey(name: try form.text(2).orDamage(), environment: try form.text(3)),
            issuer: IssuingClient(
                clientID: try form.text(4).orDamage(), tokenEndpoint: try form.text(5).orDamage()),
            subject: try Subject(try form.text(6).orDamage()).orDamage(),
            requested: ScopeSet(try form.texts(7).orDamage()), client: try ClientApp(nestedIn: &form),
            notice: try NoticeReference(in: &form), caller: try form.text(11).orDamage(),
            requestID: try form.text(12), issuedAt: Instant(milliseconds: try form.integer(13).orDamage()),
            identity: try AskedIdentity(nestedIn: &form))
    }
}

extension TokenAnswer {
    fileprivate func write(to form: inout FormWriter) {
        // Whose ID token is not verified yet, and so has no nonce.
        tokens.writeTokens(to: &form)
        form.texts(5, scopes?.names)
        form.integer(6, expiresIn)
        form.integer(7, refreshTokenExpiresIn)
        if !oddities.isEmpty { form.texts(8, oddities) }
    }

    fileprivate init(from form: inout FormReader) throws(FormDamage) {
        self.init(
            tokens: try TokenSet(tokensFrom: &form), scopes: try form.texts(5).map { ScopeSet($0) },
            expiresIn: try form.integer(6), refreshTokenExpiresIn: try form.integer(7),
            oddities: try form.texts(8) ?? [])
    }
}

extension ClientApp {
    fileprivate func write(to form: inout FormWriter) {
        form.text(1, platform)
        form.text(2, productName)
        form.text(3, sdkVersion)
    }

    fileprivate init?(nestedIn form: inout FormReader) throws(FormDamage) {
        guard var app = try form.nested(8) else { return nil }
        self.init(platform: try app.text(1), productName: try app.text(2), sdkVersion: try app.text(3))
    }
}

extension AskedIdentity {
    fileprivate func write(to form: inout FormWriter) {
        form.text(1, nonce?.reveal())
        form.flag(2, isRequired)
        form.integer(3, receivedAt.milliseconds)
    }

    fileprivate init?(nestedIn form: inout FormReader) throws(FormDamage) {
        guard var asked = try form.nested(14) else { return nil }
        self.init(
            nonce: try asked.text(1).map(SecretText.init), isRequired: try asked.flag(2).orDamage(),
            receivedAt: Instant(milliseconds: try asked.integer(3).orDamage()))
    }
}

extension NoticeReference {
    fileprivate init?(in form: inout FormReader) throws(FormDamage) {
        guard let text = try form.text(9) else { return nil }
        self.init(text: text, isAssumed: try form.flag(10).orDamage())
    }
}
