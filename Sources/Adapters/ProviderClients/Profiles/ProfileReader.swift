// SPDX-License-Identifier: Apache-2.0
package import Consents
package import NativeJSON

/// Reads what a userinfo endpoint answered (OpenID Connect Core, section 5.3.2), by a provider's claim rules. Pure.
package struct ProfileReader: Sendable {
    private let claims: [ClaimRule]
    private let rules: AnswerRules

    package init(_ claims: [ClaimRule], _ rules: AnswerRules) {
        self.claims = claims
        self.rules = rules
    }

    /// - Parameter sent: the values that a provider's text is freed of.
    package func read(_ answer: ProviderAnswer, sent: [SecretText]) -> ProfileOutcome {
        let body = AnswerBody(answer.body)
        let isSigned = answer.mediaType == "application/jwt" || ProfileReader.looksSigned(answer.body)
        if answer.isSuccess, !isSigned, case .members(let object, isForm: false) = body {
            let profile = ClaimReader(object, sent: sent).profile(by: claims)
            if !profile.claims.isEmpty || !profile.address.isEmpty { return .fetched(profile) }
        }
        let complaint = Complaint(status: answer.status, body: body)
        var statement = StatementReader(rules, sent).read(answer, body, complaint)
        // A page for people comes from something in front of the provider, and is not the provider's word.
        if answer.status == 401 || answer.status == 403, body.kind != .html { return .refused(statement) }
        // Of the standard's words (RFC 6750, section 3.1) this one means a 401, whatever stands above it.
        if answer.status == 400, complaint.isError("invalid_token") { return .refused(statement) }
        if answer.isSuccess, complaint.error == nil {
            // A page that came with success may show the person's attributes.
            statement.errorDescription = isSigned ? "the answer is a signed JWT" : nil
        }
        return .failed(statement)
    }

    /// The JWT that a successful answer is; nil for any other answer.
    func signedToken(of answer: ProviderAnswer) -> String? {
        guard answer.isSuccess, ProfileReader.looksSigned(answer.body) else { return nil }
        return String(decoding: answer.body.filter { $0 > 0x20 }, as: UTF8.self)
    }

    /// The claims of a signed answer that is genuine.
    func read(_ claims: JSONValue, status: Int, sent: [SecretText]) -> ProfileOutcome {
        let profile = ClaimReader(claims, sent: sent).profile(by: self.claims)
        if !profile.claims.isEmpty || !profile.address.isEmpty { return .fetched(profile) }
        return .failed(ProviderStatement(status: status))
    }

    /// What the claims of a verified ID token tell; nil where that is nothing.
    package func attributes(of claims: JSONValue) -> Profile? {
        let profile = ClaimReader(claims, sent: []).profile(by: self.claims)
        return profile.claims.isEmpty && profile.address.isEmpty ? nil : profile
    }

    /// Three parts of base64url with dots between them, the first of which begins as `{"` does.
    private static func looksSigned(_ body: [UInt8]) -> Bool {
        body.starts(with: "ey".utf8) && body.count(where: { $0 == 0x2E }) == 2
            && body.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x0A, 0x0D: true
                default: false
                }
            }
    }
}
