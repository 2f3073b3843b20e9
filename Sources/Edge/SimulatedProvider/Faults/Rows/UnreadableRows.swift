// SPDX-License-Identifier: Apache-2.0

extension FaultTable {
    static let unreadableRows: [FaultRow] = [
        .instead("html", "200 with a firewall's HTML page that calls itself JSON; the call has no effect.") { _ in
            .blockedPage
        },
        unreadable("empty", "200 with no body.", ""),
        .bend("no_content", "204, which has no body.", at: .callsAndRevocation) { answer, _ in
            answer.status = 204
            answer.body = []
        },
        unreadable("blank", "200 with blanks for a body.", " \r\n"),
        unreadable("empty_object", "200 with {}.", "{}"),
        unreadable("array", "200 with an array in place of an object.", #"[{"access_token":"A","sub":"S"}]"#),
        unreadable("null", "200 with null.", "null"),
        unreadable("word", "200 with the word OK as text.", "OK", "text/plain"),
        unreadable("xml", "200 with XML.", "<?xml version=\"1.0\"?><token>A</token>", "application/xml"),
        .members("access_token_blank", "The access token is a blank.") { members, _ in
            members.set("access_token", #"" ""#)
        },
        .members("access_token_missing", "No access token; all else is there.") { members, _ in
            members.remove("access_token")
        },
        .members("access_token_object", "The access token is an object.") { members, _ in
            members.set("access_token", "{}")
        },
        .bend("half_json", "The JSON ends in the middle, with a length that fits.", at: .calls) { answer, _ in
            answer.body = Array(answer.body.prefix(answer.body.count / 2))
        },
        .bend("two_documents", "Two JSON documents, one after the other.", at: .calls) { answer, _ in
            answer.body += answer.body
        },
        .bend("gzip_broken", "The answer says that it is compressed, and is not.", at: .calls) { answer, _ in
            answer = answer.adding("Content-Encoding", "gzip")
        },
        .bend("encoding_unknown", "The answer says that it is encoded in a way that nobody knows.", at: .calls) {
            answer, _ in answer = answer.adding("Content-Encoding", "x-secret")
        },
        .bend("gzip_bomb", "A few KiB that unpack to NUMBER MiB (4).", number: 4, at: .calls) { answer, strike in
            answer.body = Gzip.blanks(min(strike.count, 4096) << 20)
            answer = answer.adding("Content-Encoding", "gzip")
        },
    ]

    /// The call has its effect.
    private static func unreadable(
        _ name: String, _ sentence: String, _ body: String, _ type: String = "application/json"
    ) -> FaultRow {
        .bend(name, sentence, at: .calls) { answer, _ in
            answer.body = Array(body.utf8)
            answer.setType(type)
        }
    }
}
