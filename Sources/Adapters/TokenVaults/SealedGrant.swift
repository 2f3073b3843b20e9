// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeJSON

extension KeptGrant {
    var sealedForm: JSONValue {
        var object = SealedForm.object()
        object.set("answer", answer.sealedForm)
        object.set("provider", provider.sealedForm)
        object.set("issuer", issuer.sealedForm)
        object.set("subject", subject.text)
        object.set("requested", requested.names)
        if let client { object.set("client", client.sealedForm) }
        if let notice {
            var member: JSONValue = ["text": JSONValue(notice.text)]
            member.set("assumed", notice.isAssumed)
            object.set("notice", member)
        }
        object.set("caller", caller)
        SealedForm.set("request_id", requestID, in: &object)
        object.set("issued_at", issuedAt.milliseconds)
        return object
    }

    init?(sealedForm object: JSONValue) {
        guard let answer = object["answer"].flatMap(TokenAnswer.init(sealedForm:)),
            let provider = object["provider"]?["name"]?.string,
            let clientID = object["issuer"]?["client_id"]?.string,
            let tokenEndpoint = object["issuer"]?["token_endpoint"]?.string,
            let subject = object["subject"]?.string.flatMap(Subject.init),
            let requested = object["requested"]?.array, let caller = object["caller"]?.string,
            let issuedAt = object["issued_at"]?.integer
        else { return nil }
        self.init(
            answer: answer,
            provider: ProviderKey(name: provider, environment: object["provider"]?["environment"]?.string),
            issuer: IssuingClient(clientID: clientID, tokenEndpoint: tokenEndpoint), subject: subject,
            requested: ScopeSet(requested.compactMap(\.string)),
            client: object["client"].map(ClientApp.init(sealedForm:)),
            notice: object["notice"].flatMap(NoticeReference.init(sealedForm:)), caller: caller,
            requestID: object["request_id"]?.string, issuedAt: Instant(milliseconds: issuedAt))
    }
}

extension TokenAnswer {
    fileprivate var sealedForm: JSONValue {
        var object = tokens.filled(.object())
        if let scopes { object.set("scope", scopes.names) }
        if let expiresIn { object.set("expires_in", expiresIn) }
        if let refreshTokenExpiresIn { object.set("refresh_token_expires_in", refreshTokenExpiresIn) }
        if !oddities.isEmpty { object.set("oddities", oddities) }
        return object
    }

    fileprivate init?(sealedForm object: JSONValue) {
        guard let tokens = TokenSet(sealedForm: object) else { return nil }
        self.init(
            tokens: tokens, scopes: object["scope"]?.array.map { ScopeSet($0.compactMap(\.string)) },
            expiresIn: object["expires_in"]?.integer,
            refreshTokenExpiresIn: object["refresh_token_expires_in"]?.integer,
            oddities: object["oddities"]?.array?.compactMap(\.string) ?? [])
    }
}

extension ProviderKey {
    fileprivate var sealedForm: JSONValue {
        var object: JSONValue = ["name": JSONValue(name)]
        SealedForm.set("environment", environment, in: &object)
        return object
    }
}

extension IssuingClient {
    fileprivate var sealedForm: JSONValue {
        ["client_id": JSONValue(clientID), "token_endpoint": JSONValue(tokenEndpoint)]
    }
}

extension ClientApp {
    fileprivate var sealedForm: JSONValue {
        var object = JSONValue.object()
        SealedForm.set("platform", platform, in: &object)
        SealedForm.set("product_name", productName, in: &object)
        SealedForm.set("sdk_version", sdkVersion, in: &object)
        return object
    }

    fileprivate init(sealedForm object: JSONValue) {
        self.init(
            platform: object["platform"]?.string, productName: object["product_name"]?.string,
            sdkVersion: object["sdk_version"]?.string)
    }
}

extension NoticeReference {
    fileprivate init?(sealedForm object: JSONValue) {
        guard let text = object["text"]?.string else { return nil }
        self.init(text: text, isAssumed: object["assumed"]?.boolean ?? false)
    }
}
