// SPDX-License-Identifier: Apache-2.0
import NativeJSON

extension FaultTable {
    static let tokenMemberRows: [FaultRow] = [
        .members("token_type_missing", "No token_type.") { members, _ in members.remove("token_type") },
        .members("token_type_odd_case", "token_type is bEARER.") { members, _ in
            members.set("token_type", #""bEARER""#)
        },
        .members("token_type_other", "token_type is N_A.") { members, _ in members.set("token_type", #""N_A""#) },
        .members("long_tokens", "Tokens of NUMBER bytes (16384) each.", number: 16_384) { members, strike in
            for name in ["access_token", "refresh_token"] {
                guard let text = members[name] else { continue }
                let length = max(0, min(strike.count, 1 << 19) - text.utf8.count + 1)
                members.set(name, text.dropLast() + "." + String(repeating: "x", count: length) + "\"")
            }
        },
        .members("access_token_line_break", "The access token has a line break and a header field in it.") {
            members, _ in
            guard let text = members["access_token"] else { return }
            members.set("access_token", text.dropLast() + #".\r\nX-Injected: 1""#)
        },
        .members("refresh_token_missing", "No refresh_token.") { members, _ in members.remove("refresh_token") },
        .members("refresh_token_blank", "refresh_token is a blank.") { members, _ in
            members.set("refresh_token", #"" ""#)
        },
        .members("refresh_token_null", "refresh_token is null.") { members, _ in members.set("refresh_token", .null) },
        FaultRow(
            name: "refresh_token_rotated",
            sentence: "The refresh brings a new refresh token, and the old one is dead from then on.", number: nil,
            places: [.refresh]
        ) { _ in FaultEffect(isRotating: true, end: .answer) },
        .members(
            "refresh_token_ends", "refresh_token_expires_in is NUMBER seconds (86400).", number: 86_400
        ) { members, strike in members.set("refresh_token_expires_in", String(strike.count)) },
        .members("id_token_empty", "id_token is there and empty.") { members, _ in members.set("id_token", #""""#) },
        .members("id_token_unasked", "An ID token that nobody signed comes along.") { members, _ in
            members.set("id_token", #""e30.e30.AA""#)
        },
    ]

    static let lifetimeRows: [FaultRow] = [
        .members("expires_in", "expires_in is NUMBER (300).", number: 300) { members, strike in
            members.set("expires_in", String(strike.count))
        },
        lifetime("expires_in_text", "expires_in is a text of digits.", #""28800""#),
        lifetime("expires_in_fraction", "expires_in is 3599.97.", "3599.97"),
        lifetime("expires_in_zero", "expires_in is 0.", "0"),
        lifetime("expires_in_negative", "expires_in is -1.", "-1"),
        lifetime("expires_in_infinite", "expires_in is 1e400, more than a double holds.", "1e400"),
        lifetime("expires_in_beyond_64_bits", "expires_in is 2 to the power of 63.", "9223372036854775808"),
        lifetime("expires_in_centuries", "expires_in is a hundred years.", "3155760000"),
        lifetime("expires_in_word", "expires_in is a word.", #""never""#),
        lifetime("expires_in_object", "expires_in is an object.", "{}"),
        lifetime("expires_in_null", "expires_in is null.", "null"),
        .members("expires_in_missing", "No expires_in.") { members, _ in members.remove("expires_in") },
        .members("expires", "The lifetime is called expires.") { members, _ in members.rename("expires_in", "expires")
        },
    ]

    private static func lifetime(_ name: String, _ sentence: String, _ text: String) -> FaultRow {
        .members(name, sentence) { members, _ in members.set("expires_in", text) }
    }

    static let scopeRows: [FaultRow] = [
        scope("scope_array", "scope is an array.") { .array($0.map { JSONValue($0) }) },
        scope("scope_commas", "scope is separated by commas.") { JSONValue($0.joined(separator: ",")) },
        scope("scope_reordered", "scope has another order and each name twice.") {
            JSONValue(($0.reversed() + $0).joined(separator: "  "))
        },
        scope("scope_wider", "scope holds one that nobody asked for.") {
            JSONValue(($0 + ["https://uri.paypal.com/services/payments/.*"]).joined(separator: " "))
        },
        scope("scope_narrower", "Only openid and email were granted.") {
            JSONValue($0.filter { $0 == "openid" || $0 == "email" }.joined(separator: " "))
        },
        scope("scope_empty", "scope is an empty text.") { _ in "" },
        scope("scope_null", "scope is null.") { _ in .null },
        scope("scope_number", "scope is a number.") { _ in 7 },
        .members("scope_missing", "No scope.") { members, _ in members.remove("scope") },
    ]

    private static func scope(
        _ name: String, _ sentence: String, _ change: @escaping @Sendable ([String]) -> JSONValue
    ) -> FaultRow {
        .members(name, sentence) { members, _ in
            // A quotation mark has no place in a scope (RFC 6749 section 3.3).
            let names = (members["scope"] ?? "").split { $0 == "\"" || $0 == " " }.map(String.init)
            members.set("scope", change(names))
        }
    }
}
