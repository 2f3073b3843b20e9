// SPDX-License-Identifier: Apache-2.0
import ConsentUseCases
import Consents
import NativeJSON

/// The three bodies of `POST /v1/consents` (contract, section 2), read into one validated value.
struct ExchangeBody {
    private let body: JSONValue
    private let target: RawTarget

    /// - Throws: `Problem` 400 that names what cannot be read, and `secret_in_request`.
    init(_ bytes: [UInt8], target: RawTarget) throws(Problem) {
        let parsed: JSONValue
        do { parsed = try JSONValue.parse(bytes, as: .callers) } catch { throw .invalidRequest("the body: \(error).") }
        guard parsed.kind == .object else { throw .invalidRequest("the body must be a JSON object.") }
        // Whether a client secret stands anywhere in it: apps wrap the SDK's response in what they please.
        guard !parsed.holdsName(ExchangeBody.namesSecret),
            !target.parameterNames.contains(where: { ExchangeBody.namesSecret($0.utf8.span) })
        else { throw .secretInRequest }
        body = parsed
        self.target = target
    }

    /// `client_secret`, however it is spelled: `clientSecret`, `Client-Secret`.
    private static func namesSecret(_ name: Span<UInt8>) -> Bool {
        guard (12...64).contains(name.count) else { return false }
        var wanted = "clientsecret".utf8.makeIterator()
        for index in name.indices {
            let letter = name[index] | 0x20
            guard (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter) else { continue }
            guard wanted.next() == letter else { return false }
        }
        return wanted.next() == nil
    }

    /// - Parameter owner: the user who calls; nil for an API key, which names the subject itself.
    /// - Throws: `Problem` 400 that names the field.
    func request(caller: CallerIdentity, of owner: Subject?) throws(Problem) -> ExchangeRequest {
        let subject = try subject(of: owner)
        let provider = try text("provider", orQuery: true)
        let notice = try text("notice", orQuery: true)
        if let envelope = try sdkEnvelope() {
            return ExchangeRequest(
                code: try code(ExchangeBody.code(ofSDK: envelope)), providerName: provider, subject: subject,
                parameters: ExchangeParameters(isSDKCode: true, redirectURI: nil, codeVerifier: nil),
                environmentHint: try ExchangeBody.member("environment", ofClient: envelope),
                client: try ExchangeBody.app(envelope), nonce: nil, issuer: try issuer(ofSDK: envelope),
                notice: notice, caller: caller)
        }
        let parameters = ExchangeParameters(
            isSDKCode: false, redirectURI: try text("redirect_uri", orQuery: false), codeVerifier: try verifier())
        return ExchangeRequest(
            code: try code(text("code", orQuery: false)), providerName: provider, subject: subject,
            parameters: parameters, environmentHint: nil, client: nil,
            nonce: try text("nonce", orQuery: false).map(SecretText.init), issuer: try text("iss", orQuery: false),
            notice: notice, caller: caller)
    }

    private func subject(of owner: Subject?) throws(Problem) -> Subject {
        let text = try text("subject", orQuery: true)
        if let owner {
            guard text == nil else { throw .subjectOfUser }
            return owner
        }
        guard let text else {
            throw .invalidRequest("subject: it is required from an API key; name the person in your own terms.")
        }
        guard let subject = Subject(text) else {
            throw .invalidRequest("subject: it must be 1 to 255 bytes of UTF-8 without control characters.")
        }
        return subject
    }

    private func code(_ text: String?) throws(Problem) -> AuthorizationCode {
        guard let text, let code = AuthorizationCode(text) else {
            throw .invalidRequest("code: there is nothing to exchange; send the code or the SDK's whole response.")
        }
        return code
    }

    /// The SDK's authorization response: the body itself, or wrapped as `authorization`.
    private func sdkEnvelope() throws(Problem) -> JSONValue? {
        let isBare = body["response"] != nil || body["response_type"] != nil
        let wrapped = body["authorization"]
        guard isBare || wrapped != nil else { return nil }
        guard !(isBare && wrapped != nil), body["code"] == nil else {
            throw .invalidRequest("authorization: send one code only, in one form.")
        }
        let envelope = wrapped ?? body
        guard envelope.kind == .object else { throw .invalidRequest("authorization: it must be an object.") }
        if let type = envelope["response_type"], type.string != "authorization_code" {
            throw .invalidRequest("response_type: only authorization_code can be exchanged.")
        }
        return envelope
    }

    private static func code(ofSDK envelope: JSONValue) throws(Problem) -> String {
        guard let response = envelope["response"], response.kind == .object else {
            throw .invalidRequest("response: it must be an object that holds the code.")
        }
        guard let code = response["code"]?.string else {
            throw .invalidRequest("response.code: it must be a string.")
        }
        return code
    }

    /// In the SDK's response, or beside it.
    private func issuer(ofSDK envelope: JSONValue) throws(Problem) -> String? {
        let beside = try text("iss", orQuery: false)
        guard let value = envelope["response"]?["iss"], !value.isNull else { return beside }
        guard let text = value.string else { throw .invalidRequest("response.iss: it must be a string.") }
        if let beside, !beside.utf8.elementsEqual(text.utf8) {
            throw .invalidRequest("iss: it is another one than response.iss.")
        }
        return text
    }

    private static func app(_ envelope: JSONValue) throws(Problem) -> ClientApp? {
        guard let client = envelope["client"], !client.isNull else { return nil }
        let platform = try member("platform", ofClient: envelope)
        let product = try member("product_name", ofClient: envelope)
        let version = try member("paypal_sdk_version", ofClient: envelope)
        return ClientApp(
            platform: platform.map(shortened), productName: product.map(shortened), sdkVersion: version.map(shortened))
    }

    /// What the app says of itself is a hint: kept short and free of control characters.
    private static func shortened(_ text: String) -> String {
        if text.utf8.count <= 100, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) { return text }
        return shortenedByScalars(text)
    }

    private static func shortenedByScalars(_ text: String) -> String {
        String(
            String.UnicodeScalarView(text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }.prefix(100)))
    }

    private static func member(_ name: String, ofClient envelope: JSONValue) throws(Problem) -> String? {
        guard let client = envelope["client"], !client.isNull else { return nil }
        guard client.kind == .object else { throw .invalidRequest("client: it must be an object.") }
        guard let value = client[name], !value.isNull else { return nil }
        guard let text = value.string else { throw .invalidRequest("client.\(name): it must be a string.") }
        return text
    }

    private func verifier() throws(Problem) -> SecretText? {
        guard let text = try text("code_verifier", orQuery: false) else { return nil }
        let isUnreserved = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-._~".utf8.contains(byte)
            }
        }
        guard isUnreserved, (43...128).contains(text.utf8.count) else {
            throw .invalidRequest("code_verifier: it must be 43 to 128 unreserved characters (RFC 7636, section 4.1).")
        }
        return SecretText(text)
    }

    private func text(_ name: String, orQuery: Bool) throws(Problem) -> String? {
        let queried = orQuery ? try target.parameter(name) : nil
        guard let value = body[name], !value.isNull else { return queried }
        guard let text = value.string else { throw .invalidRequest("\(name): it must be a string.") }
        if let queried, queried != text {
            throw .invalidRequest("\(name): the query and the body differ.")
        }
        return text
    }
}
