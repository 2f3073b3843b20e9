// SPDX-License-Identifier: Apache-2.0
import NativeJSON

extension FaultTable {
    static let troubleRows: [FaultRow] = [
        FaultRow(
            name: "slow", sentence: "The call has its effect at once; the answer comes after NUMBER seconds (5).",
            number: 5, places: .callsAndRevocation
        ) { FaultEffect(delay: $0.seconds, end: .answer) },
        .instead(
            "throttled", "429 with RATE_LIMIT_REACHED and a Retry-After of NUMBER seconds (5); the call has no effect.",
            number: 5, at: .callsAndRevocation
        ) { .throttled(retryAfter: String(Int($0.number.rounded(.up)))) },
        retryAfter(
            "throttled_date", "429 with a Retry-After that is a date, long ago.", "Sun, 06 Nov 1994 08:49:37 GMT"),
        retryAfter("throttled_absurd", "429 with a Retry-After of 10 to the power of 20.", "100000000000000000000"),
        retryAfter("throttled_word", "429 with a Retry-After that is a word.", "soon"),
        retryAfter("throttled_silent", "429 without a Retry-After.", nil),
        .instead("rate_limit_400", "400 with RATE_LIMIT_REACHED.") { _ in
            var answer = SimulatedAnswer.throttled(retryAfter: nil)
            answer.status = 400
            return answer
        },
        .instead(
            "unavailable", "503 Service Unavailable; the call has no effect.",
            at: Set(FaultPlace.allCases)
        ) { _ in .unavailable },
        .instead(
            "unavailable_for", "503 with a Retry-After of NUMBER seconds (5).", number: 5, at: .callsAndRevocation
        ) { SimulatedAnswer.unavailable.adding("Retry-After", String($0.count)) },
        .instead(
            "server_error", "The status NUMBER (500) with an error in JSON; the call has no effect.", number: 500,
            at: .callsAndRevocation
        ) {
            SimulatedAnswer(
                status: $0.status,
                json: ["name": "INTERNAL_SERVICE_ERROR", "message": "An internal error occurred.", "debug_id": "d1"])
        },
        .instead(
            "server_page", "The status NUMBER (500) with an HTML page; the call has no effect.", number: 500,
            at: .callsAndRevocation
        ) {
            let page = "<html><head><title>Error</title></head><body>It went wrong.</body></html>"
            return SimulatedAnswer(status: $0.status, type: "text/html", body: Array(page.utf8))
        },
        .instead("error_without_name", "The status NUMBER (400) with {}.", number: 400) {
            SimulatedAnswer(status: $0.status, json: [:])
        },
        .instead(
            "redirect", "A redirect with the status NUMBER (302) to another path.", number: 302,
            at: .callsAndRevocation
        ) {
            SimulatedAnswer(status: $0.status, type: "text/plain", body: []).adding(
                "Location", $0.origin + "/elsewhere")
        },
    ]

    private static func retryAfter(_ name: String, _ sentence: String, _ field: String?) -> FaultRow {
        .instead(name, sentence) { _ in .throttled(retryAfter: field) }
    }
}
