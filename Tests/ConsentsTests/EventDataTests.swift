// SPDX-License-Identifier: Apache-2.0
import Consents
import Testing

@Suite struct EventDataTests {
    @Test("an event's data lie in the order of their names' bytes, however they were put in")
    func order() {
        let names = ["b", "", "a_b", "aZ", "a", "é", "e\u{301}", "Z", "~", "ab", "\u{1F600}", "\u{FFFD}", "provider"]
        for _ in 0..<50 {
            var data = EventData()
            for name in names.shuffled() { data[name] = .text(name) }
            let sorted = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            #expect(data.map { Array($0.key.utf8) } == sorted.map { Array($0.utf8) })
        }
    }

    @Test("each name is there once, with its last value, until it is taken out")
    func setting() {
        var data: EventData = ["b": .integer(1), "a": .text("x"), "c": .text("y")]
        data["a"] = .text("z")
        #expect(data["a"] == .text("z") && data["b"] == .integer(1) && data["d"] == nil)
        data["b"] = nil
        data["d"] = nil
        #expect(data == ["c": .text("y"), "a": .text("z")])
        #expect(data != ["a": .text("z")] && data != ["a": .text("z"), "c": .text("x")])
        data["a"] = nil
        data["c"] = nil
        #expect(data.isEmpty && data == [:])
    }

    @Test("data are put together, and who is asked says which of two values stays")
    func merging() {
        let own: EventData = ["a": .integer(1), "b": .integer(2)]
        let other: EventData = ["b": .integer(3), "c": .integer(4)]
        #expect(own.merging(other) { first, _ in first } == ["a": .integer(1), "b": .integer(2), "c": .integer(4)])
        #expect(own.merging(other) { _, last in last } == ["a": .integer(1), "b": .integer(3), "c": .integer(4)])
        #expect(own.filter { $0.key > "a" } == ["b": .integer(2)])
    }
}
