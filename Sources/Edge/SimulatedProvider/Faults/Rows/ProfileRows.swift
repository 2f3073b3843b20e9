// SPDX-License-Identifier: Apache-2.0
import NativeJSON

extension FaultTable {
    static let profileRows: [FaultRow] = [
        profile("sub_missing", "No sub; user_id is there.") { members, _ in members.remove("sub") },
        profile("subject_missing", "Neither sub nor user_id.") { members, _ in members.remove("sub", "user_id") },
        profile("sub_number", "sub is a number, and there is no user_id.") { members, _ in
            members.set("sub", "4711")
            members.remove("user_id")
        },
        profile("sub_null", "sub is null; user_id is there.") { members, _ in members.set("sub", "null") },
        profile("sub_other", "After NUMBER answers (1) sub and user_id are another person's.", number: 1) {
            members, strike in
            guard strike.earlier >= strike.count else { return }
            let other = JSONValue(People.named("somebody-else").userID)
            members.set("sub", other)
            members.set("user_id", other)
        },
        profile("emails_list", "A list of mail addresses as in the schema paypalv1.1, the primary one last.") {
            members, _ in
            let address = members["email"] ?? "null"
            members.remove("email", "email_verified")
            members.set(
                "emails",
                #"[{"value":"old@example.test","primary":false,"confirmed":false},"#
                    + #"{"value":\#(address),"primary":true,"confirmed":true}]"#)
        },
        profile("truth_as_text", "email_verified and verified_account are texts.") { members, _ in
            members.set("email_verified", #""TRUE""#)
            members.set("verified_account", #""false""#)
        },
        profile("address_as_text", "address is a text.") { members, _ in
            members.set("address", #""1 Main St\nSan Jose, CA 95131\nUS""#)
        },
        profile("address_odd", "address is an array.") { members, _ in members.set("address", #"["1 Main St"]"#) },
        profile("phone_local", "The phone number has no country code.") { members, _ in
            members.set("phone_number", #""4082560980""#)
        },
        profile("null_in_claims", "name and user_id hold U+0000, and there is no sub.") { members, _ in
            members.remove("sub")
            members.set("user_id", #""a\u0000b""#)
            members.set("name", #""Ada\u0000Canary""#)
        },
        profile("claims_null", "Every claim but the identity is null.") { members, _ in
            for name in members.pairs.map(\.name) where name != "sub" && name != "user_id" {
                members.set(name, "null")
            }
        },
        profile("claim_sources", "The address is elsewhere: an unsigned JWT, and an endpoint of this provider.") {
            members, strike in
            members.remove("address", "phone_number")
            members.set("_claim_names", #"{"address":"s1","phone_number":"s2"}"#)
            members.set(
                "_claim_sources",
                #"{"s1":{"JWT":"eyJhbGciOiJub25lIn0.eyJhZGRyZXNzIjoieCJ9."},"#
                    + #""s2":{"endpoint":"\#(strike.origin)/claims","access_token":"t"}}"#)
        },
        .bend("userinfo_jwt", "The profile comes as a JWT that calls itself signed.", at: [.userinfo]) { answer, _ in
            answer.body = Array("eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzIn0.c2lnbmF0dXJl".utf8)
            answer.setType("application/jwt; charset=ISO-8859-1")
        },
        .complain(
            "insufficient_scope", "insufficient_scope, with the status NUMBER (403).", status: 403,
            error: "insufficient_scope", "The token has not this scope", at: [.userinfo]),
    ]

    private static func profile(
        _ name: String, _ sentence: String, number: Double? = nil,
        _ change: @escaping @Sendable (inout AnswerMembers, FaultStrike) -> Void
    ) -> FaultRow {
        .members(name, sentence, number: number, at: [.userinfo], change)
    }
}
