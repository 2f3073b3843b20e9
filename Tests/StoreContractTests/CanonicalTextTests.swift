// SPDX-License-Identifier: Apache-2.0
import Consents
import Testing

@testable import ConsentStores

@Suite("The canonical text of an event")
struct CanonicalTextTests {
    private static let texts = [
        "", "plain", "two words", "a \"quoted\" one", "back\\slash", "line\nfeed", "nul\u{0}", "\u{1f}", "\u{7f}", "é",
        "e\u{301}", "\u{2028}", "🙂", "https://a.example/b?c=d&e=f", "</script>",
    ]
    private static let names = ["a", "b2", "B", "_", "generation", "scopes", "é", "e\u{301}", "\"", "ab", "a\n"]

    private func draft(_ data: EventData, caller: String = "backend", requestID: String? = nil) -> EventDraft {
        EventDraft(type: .refreshed, at: Make.now, caller: caller, requestID: requestID, data: data)
    }

    @Test("is the same bytes whether it was put together as it is or by way of a tree")
    func sameBytes() {
        let id = ConsentID(Make.instance().uuid)
        var generator = SystemRandomNumberGenerator()
        var (plain, escaped) = (0, 0)
        for round in 0..<3000 {
            var data: EventData = [:]
            for _ in 0..<Int.random(in: 0...6, using: &generator) {
                let name = CanonicalTextTests.names.randomElement(using: &generator) ?? "a"
                let text = CanonicalTextTests.texts.randomElement(using: &generator) ?? ""
                let number = Int64.random(in: .min ... .max, using: &generator)
                data[round % 2 == 0 ? name : "m\(name.utf8.count)"] =
                    Bool.random(using: &generator) ? .text(text) : .integer(number)
            }
            let one = draft(
                data, caller: CanonicalTextTests.texts[round % CanonicalTextTests.texts.count],
                requestID: round % 3 == 0 ? CanonicalTextTests.texts.randomElement(using: &generator) : nil)
            let text = CanonicalText(one, of: id, sequence: Int64(round))
            let whole = EventText.escaped(one, of: id, sequence: Int64(round))
            if text.isPlain { plain += 1 } else { escaped += 1 }
            if text.isPlain { #expect(text.bytes == whole) }
            #expect(EventText.canonical(one, of: id, sequence: Int64(round)) == whole)
        }
        #expect(plain > 100 && escaped > 100)
    }

    @Test("tells its members in the order of their names, without blanks")
    func order() {
        let id = ConsentID(Make.instance().uuid)
        let text = EventText.canonical(
            draft(["b": .integer(-1), "B": .text("é"), "a_b": .text("x"), "a": .integer(.max)], requestID: "r"), of: id,
            sequence: 7)
        let data = #"{"B":"é","a":9223372036854775807,"a_b":"x","b":-1}"#
        #expect(
            String(decoding: text, as: UTF8.self)
                == #"{"at":\#(Make.now.milliseconds),"caller":"backend","consent":"\#(id)","data":\#(data),"#
                + #""request_id":"r","seq":7,"type":"consent.refreshed"}"#)
    }

    @Test("is plain for what nearly every event tells")
    func usual() {
        let id = ConsentID(Make.instance().uuid)
        let usual = draft(["generation": .integer(2), "scopes_granted": .text("openid email")])
        #expect(CanonicalText(usual, of: id, sequence: 2).isPlain)
        #expect(!CanonicalText(draft([:], caller: "a \"name\""), of: id, sequence: 2).isPlain)
    }
}
