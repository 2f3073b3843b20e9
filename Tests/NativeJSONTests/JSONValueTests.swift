// SPDX-License-Identifier: Apache-2.0
import NativeJSON
import Testing

@Suite("JSON values")
struct JSONValueTests {
    private func text(_ value: JSONValue, _ style: JSONStyle = .compact) -> String {
        String(decoding: value.serialized(style), as: UTF8.self)
    }

    @Test("members are written in the order they were set, or sorted by their bytes")
    func order() {
        var value = JSONValue.object()
        value.set("z", "é/\"\n\u{1}")
        value.set("n", 3)
        value.set("none", nil)
        value.set("maybe", String?.none)
        value.set("list", [1, "two", nil, true] as JSONValue)
        value.set("names", ["a", "b"])
        value.set("a", false)
        value.set("n", Int64.min)
        #expect(
            text(value) == #"{"z":"é/\"\n\u0001","n":-9223372036854775808,"none":null,"maybe":null,"#
                + #""list":[1,"two",null,true],"names":["a","b"],"a":false}"#)
        #expect(text(["b": 1, "aa": 2, "a": 3, "é": 4], .canonical) == #"{"a":3,"aa":2,"b":1,"é":4}"#)
        #expect(text(["a": [1]], .indented) == "{\n  \"a\": [\n    1\n  ]\n}")
    }

    @Test("a document longer than the first buffer is written whole", arguments: [1021, 1022, 1023, 70_000])
    func long(length: Int) {
        let value = JSONValue(String(repeating: "x", count: length))
        #expect(value.serialized(.compact).count == length + 2)
    }

    @Test("two variables never see each other's changes")
    func values() {
        var first: JSONValue = ["a": ["b": 1]]
        let second = first
        first.set("c", 2)
        #expect(text(second) == #"{"a":{"b":1}}"#)
        var inner = first["a"]!
        inner.set("b", 3)
        #expect(text(first) == #"{"a":{"b":1},"c":2}"#)
        var outer = JSONValue.object()
        outer.set("inner", inner)
        inner.set("b", 4)
        outer.set("self", outer)
        #expect(text(outer) == #"{"inner":{"b":3},"self":{"inner":{"b":3}}}"#)
    }

    @Test("each kind answers to its own question only")
    func kinds() throws {
        let text = #"{"s":"é\u0041","i":-7,"r":1.5,"t":true,"n":null,"a":[1,2],"o":{"x":1,"y":2},"":5}"#
        let document = Array(text.utf8)
        let value = try JSONValue.parse(document, as: .callers)
        #expect(value["s"]?.string == "éA")
        #expect(value["i"]?.integer == -7 && value["i"]?.real == -7 && value["i"]?.string == nil)
        #expect(value["r"]?.real == 1.5 && value["r"]?.integer == nil)
        #expect(value["t"]?.boolean == true && value["n"]?.isNull == true && value["n"]?.boolean == nil)
        #expect(value["a"]?.array?.compactMap(\.integer) == [1, 2] && value["a"]?[2] == nil && value["a"]?[-1] == nil)
        #expect(value["o"]?.members.map(\.name) == ["x", "y"] && value["o"]?.count == 2)
        #expect(value["missing"] == nil && value["s"]?["x"] == nil && value[""]?.integer == 5)
        #expect(value.kind == .object && value["a"]?.kind == .array && value["r"]?.kind == .real)
    }

    @Test("a value read on one thread is read by many at once")
    func threads() async throws {
        let value = try JSONValue.parse(Array(#"{"a":[{"b":"c"}]}"#.utf8), as: .callers)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<64 {
                group.addTask { (0..<1000).allSatisfy { _ in value["a"]?[0]?["b"]?.string == "c" } }
            }
            for await same in group { #expect(same) }
        }
    }

    @Test("a number that JSON cannot say is written null")
    func notFinite() {
        #expect(text(JSONValue(Double.nan)) == "null" && text(JSONValue(Double.infinity)) == "null")
    }
}
