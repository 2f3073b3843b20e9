// SPDX-License-Identifier: Apache-2.0

extension FaultTable {
    static let documentRows: [FaultRow] = [
        .members("error_beside_token", "An error stands beside the tokens.") { members, _ in
            members.prepend("error", #""invalid_scope""#)
        },
        odd("lone_surrogate", "A member before the tokens is half a character, as an escape.", #""\ud800""#),
        odd("null_character", "A member before the tokens holds U+0000.", #""a\u0000b""#),
        odd("huge_number", "A member before the tokens is 1e999.", "1e999"),
        odd("many_odd_numbers", "Ten members before the tokens are beyond every number.") {
            "[" + Array(repeating: "1e999", count: 10).joined(separator: ",") + "]"
        },
        .members("odd_name", "A member's name holds U+0000.") { members, _ in members.prepend(#"a\u0000b"#, "1") },
        odd("deep_member", "A member before the tokens is 5,000 arrays deep.") {
            String(repeating: "[", count: 5000) + String(repeating: "]", count: 5000)
        },
        .members("large_member", "A member before the tokens has NUMBER bytes (500000).", number: 500_000) {
            members, strike in
            members.prepend("note", "\"" + String(repeating: "n", count: min(strike.count, 1 << 24)) + "\"")
        },
        .members("duplicate_members", "access_token stands there twice; the last is the right one.") { members, _ in
            members.prepend("access_token", #""stale""#)
        },
        .bend("bad_utf8", "A member before the tokens holds a byte that is no UTF-8.") { answer, _ in
            answer.body = Array("{\"note\":\"caf".utf8) + [0xE9] + Array("\",".utf8) + answer.body.dropFirst()
        },
        .members("reversed_members", "The members come in the other order.", at: .calls) { members, _ in
            members.reverse()
        },
        .bend("blanks_around", "Blanks and line ends stand around the document.", at: .calls) { answer, _ in
            answer.body = Array("\r\n\t ".utf8) + answer.body + Array(" \r\n\r\n".utf8)
        },
        .bend("byte_order_mark", "The body begins with a byte-order mark.", at: .calls) { answer, _ in
            answer.body = [0xEF, 0xBB, 0xBF] + answer.body
        },
    ]

    private static func odd(
        _ name: String, _ sentence: String, _ text: @escaping @autoclosure @Sendable () -> String
    ) -> FaultRow {
        odd(name, sentence, text)
    }

    private static func odd(_ name: String, _ sentence: String, _ text: @escaping @Sendable () -> String) -> FaultRow {
        .members(name, sentence) { members, _ in members.prepend("note", text()) }
    }
}
