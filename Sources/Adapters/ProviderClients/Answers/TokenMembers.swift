// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeJSON

/// What was odd in a token answer and taken all the same; the names stand in events.
package enum Oddity: String, Sendable, CaseIterable {
    case formEncoded = "form_encoded"
    case wrongContentType = "wrong_content_type"
    case byteOrderMark = "byte_order_mark"
    case statusOtherThan200 = "status_other_than_200"
    case errorBesideToken = "error_beside_token"
    case tokenTypeMissing = "token_type_missing"
    case tokenTypeOther = "token_type_other"
    case lifetimeUnusable = "lifetime_unusable"
    case lifetimeInExpires = "lifetime_in_expires"
    case scopeUnreadable = "scope_unreadable"
    case scopeLeftOut = "scope_left_out"
    case cutOff = "cut_off"
}

/// The members of a token answer (RFC 6749, section 5.1), each read for itself: an odd one never costs the tokens.
struct TokenMembers {
    private let object: JSONValue
    private let places: [String: JSONPointer]
    private let unit: AnswerRules.LifetimeUnit
    private let expectedScopes: Set<String>
    private let readBefore: ExpectedScopes
    private let sent: [SecretText]
    private(set) var oddities: [Oddity] = []

    /// - Parameter sent: values that no scope may hold.
    init(_ object: JSONValue, _ rules: AnswerRules, _ readBefore: ExpectedScopes, sent: [SecretText]) {
        self.object = object
        self.readBefore = readBefore
        self.sent = sent
        expectedScopes = rules.expectedScopes
        places = rules.tokenMembers
        unit = rules.lifetimeUnit
    }

    private func member(_ name: String) -> JSONValue? {
        if let place = places[name] { return place.value(in: object) }
        return object[name]
    }

    /// - Returns: nil where there is no access token.
    mutating func read() -> TokenAnswer? {
        guard let accessToken = token("access_token") else { return nil }
        let tokens = TokenSet(
            accessToken: accessToken, tokenType: tokenType(), refreshToken: token("refresh_token"),
            idToken: token("id_token"))
        return TokenAnswer(
            tokens: tokens, scopes: scopes(beside: tokens), expiresIn: expiresIn(),
            refreshTokenExpiresIn: refreshTokenExpiresIn())
    }

    /// Empty and blank ones are none.
    private func token(_ name: String) -> SecretText? { member(name)?.filledText.map(SecretText.init) }

    private mutating func tokenType() -> String {
        guard let type = member("token_type")?.string, !type.isEmpty else {
            oddities.append(.tokenTypeMissing)
            return "Bearer"
        }
        if type.isSameASCII(as: "bearer") { return "Bearer" }
        oddities.append(.tokenTypeOther)
        // Told together with the token: it must be a word, and no more of what was sent or came than a scope's name.
        let named = ScopeNames(expected: [], secrets: sent).kept(of: [type]).names
        return named.first ?? "Bearer"
    }

    private mutating func expiresIn() -> Int64? {
        if let member = member("expires_in"), !(member.isNull && self.member("expires") != nil) {
            let seconds = Lifetime.seconds(member, unit: unit)
            if seconds == nil { oddities.append(.lifetimeUnusable) }
            return seconds
        }
        guard let seconds = Lifetime.seconds(member("expires"), unit: unit) else { return nil }
        oddities.append(.lifetimeInExpires)
        return seconds
    }

    private func refreshTokenExpiresIn() -> Int64? {
        for name in ["refresh_token_expires_in", "refresh_expires_in"] {
            if let seconds = Lifetime.seconds(member(name), unit: unit), seconds >= 60 { return seconds }
        }
        return nil
    }

    /// An array; else separated by blanks; else, where there is no blank, by commas; else, where there is neither, by
    /// plus signs, as of a form that was encoded twice. Empty: none was named.
    private mutating func scopes(beside tokens: TokenSet) -> ScopeSet? {
        guard let member = member("scope"), !member.isNull else { return nil }
        let names: [String]
        if let array = member.array {
            names = array.compactMap(\.string).flatMap { TokenMembers.split($0) }
        } else if let text = member.string {
            if let scopes = readBefore.scopes(of: text) { return scopes }
            let blankSeparated = TokenMembers.split(text)
            names = blankSeparated.count > 1 ? blankSeparated : TokenMembers.splitUnblanked(text)
        } else {
            oddities.append(.scopeUnreadable)
            return nil
        }
        let told = [tokens.accessToken, tokens.refreshToken, tokens.idToken].compactMap(\.self)
        let kept = ScopeNames(expected: expectedScopes, secrets: sent + told).kept(of: names)
        if kept.hasLeftOut { oddities.append(.scopeLeftOut) }
        guard !kept.names.isEmpty else { return nil }
        let scopes = ScopeSet(kept.names)
        if !kept.hasLeftOut, let text = member.string, names.allSatisfy(expectedScopes.contains) {
            readBefore.keep(scopes, of: text)
        }
        return scopes
    }

    private static func splitUnblanked(_ text: String) -> [String] {
        let separator: Character = text.contains(",") ? "," : "+"
        return text.split(separator: separator).flatMap { TokenMembers.split($0) }
    }

    private static func split(_ text: some StringProtocol) -> [String] {
        text.utf8.split { $0 == 0x20 || (0x09...0x0D).contains($0) }.map { String(decoding: $0, as: UTF8.self) }
    }
}
