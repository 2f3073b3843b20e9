// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import NativeYAML

@Suite("YAML documents")
struct YAMLDocumentTests {
    private func read(_ text: String, limits: YAMLLimits = .configuration) throws(YAMLFailure) -> YAMLNode {
        try readYAML(Array(text.utf8), limits: limits)
    }

    private func failed(_ text: String, limits: YAMLLimits = .configuration) -> YAMLFailure? {
        do {
            _ = try read(text, limits: limits)
            return nil
        } catch {
            return error
        }
    }

    @Test("a mapping keeps its order, and each key and value its line and column")
    func placesAreKept() throws {
        let root = try read("b: 1\na:\n  - x\n  - 'y'\n")
        guard case .mapping(let entries) = root.content else {
            Issue.record("no mapping")
            return
        }
        #expect(entries.map(\.key) == ["b", "a"])
        #expect(entries[0].value == YAMLNode(.scalar("1", style: .plain), line: 1, column: 4))
        #expect(entries[1].line == 2)
        let items: [YAMLNode] = [
            YAMLNode(.scalar("x", style: .plain), line: 3, column: 5),
            YAMLNode(.scalar("y", style: .quoted), line: 4, column: 5),
        ]
        #expect(entries[1].value.content == .sequence(items))
    }

    @Test(
        "a scalar is text whatever it looks like", arguments: ["yes", "~", "null", "1e3", "0x10", "2026-01-01", ".inf"])
    func nothingIsGuessed(text: String) throws {
        #expect(try read(text).content == .scalar(text, style: .plain))
    }

    @Test("JSON is YAML")
    func jsonIsRead() throws {
        let root = try read(#"{"a": {"b": [true, "x\u00e9"]}}"#)
        guard case .mapping(let entries) = root.content, case .mapping(let inner) = entries[0].value.content,
            case .sequence(let items) = inner[0].value.content
        else {
            Issue.record("not the tree that was written")
            return
        }
        #expect(items.map(\.content) == [.scalar("true", style: .plain), .scalar("xé", style: .quoted)])
    }

    @Test("an alias stands for what its anchor holds")
    func aliasesAreResolved() throws {
        let root = try read("a: &x [1, 2]\nb: *x\n")
        guard case .mapping(let entries) = root.content else { return }
        #expect(entries[0].value == entries[1].value)
    }

    @Test("an empty text is a blank")
    func emptyIsBlank() throws {
        #expect(try read("").isBlank)
        #expect(try read("# only a comment\n").isBlank)
        #expect(try !read("''").isBlank)
    }

    @Test("a byte order mark is skipped")
    func markIsSkipped() throws {
        let root = try readYAML([0xEF, 0xBB, 0xBF] + Array("a: b".utf8), limits: .configuration)
        guard case .mapping(let entries) = root.content else {
            Issue.record("no mapping")
            return
        }
        #expect(entries.first?.key == "a")
    }

    @Test(
        "what is refused is refused with its line",
        arguments: [
            ("a: 1\nb: 2\na: 3\n", 3, "the key a stands here twice"),
            ("a: 1\n---\nb: 2\n", 2, "a second document"),
            ("a: 1\nb: *nowhere\n", 2, "no anchor"),
            ("a: 1\nb: !secret x\n", 2, "tags"),
            ("a: 1\n[x]: 2\n", 2, "a key"),
            ("a: 1\nb: \"x\\0y\"\n", 2, "NUL"),
            ("a: 1\nb: x\0y\n", 2, "NUL"),
            ("a:\n\tb: 1\n", 2, "cannot start any token"),
            ("a: &x\n  b: *x\n", 2, "no anchor"),
        ])
    func refusals(text: String, line: Int, problem: String) throws {
        let failure = try #require(failed(text))
        #expect(failure.line == line)
        #expect(failure.problem.contains(problem), "\(failure.problem)")
    }

    @Test("bytes that are not UTF-8 are refused with their line")
    func foreignBytes() {
        #expect(throws: YAMLFailure(line: 2, column: 1, problem: "contains bytes that are not UTF-8")) {
            try readYAML(Array("a: 1\nb: ".utf8) + [0xC3, 0x28], limits: .configuration)
        }
        #expect(throws: YAMLFailure.self) { try readYAML([0xFF, 0xFE, 0x61, 0x00], limits: .configuration) }
    }

    @Test("size, depth and number of values are bounded")
    func bounds() {
        let limits = YAMLLimits(bytes: 100, depth: 3, nodes: 10)
        #expect(failed(String(repeating: "x", count: 101), limits: limits)?.problem.contains("100 bytes") == true)
        #expect(failed("[[[x]]]", limits: limits) == nil)
        #expect(failed("[[[[x]]]]", limits: limits)?.problem.contains("3 levels") == true)
        #expect(failed("[1,2,3,4,5,6,7,8,9]", limits: limits) == nil)
        #expect(failed("[1,2,3,4,5,6,7,8,9,10]", limits: limits)?.problem.contains("10 values") == true)
        #expect(failed(String(repeating: "[", count: 100_000)) != nil)
    }

    @Test("aliases of aliases count as what they stand for")
    func aliasBomb() throws {
        var text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
        for level in 1...9 {
            let uses = Array(repeating: "*a\(level - 1)", count: 9).joined(separator: ", ")
            text += "a\(level): &a\(level) [\(uses)]\n"
        }
        let failure = try #require(failed(text))
        #expect(failure.problem.contains("50000 values"))
    }

    @Test("a failure never shows the text that it is about")
    func failuresAreHarmless() throws {
        let texts = ["client_secret: *hunter2\n", "client_secret: !hunter2 x\n", "client_secret: \"hunter2\nb: [\n"]
        for text in texts {
            #expect(try !#require(failed(text)).problem.contains("hunter2"))
        }
    }
}
