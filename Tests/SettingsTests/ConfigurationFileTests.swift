// SPDX-License-Identifier: Apache-2.0
import NativeYAML
import Testing

@testable import Settings

@Suite("The files in Config")
struct ConfigurationFileTests {
    private static let unread = SettingsOptions(readsSecrets: false, refusesNotYetBuilt: false)

    private func example() throws -> [UInt8] { try SampleSettings.file("Config/production.example.yaml") }

    @Test("gateway.yaml works as it is, with nothing in the environment")
    func gateway() throws {
        let text = try SampleSettings.file("Config/gateway.yaml")
        let loaded = try SettingsLoader.parse(text, file: "Config/gateway.yaml", environment: [:], options: .whole)
        #expect(loaded.warnings.map(\.keyPath) == ["providers.paypal.client_secret"])
        #expect(loaded.settings.store.location == .sqlite(path: "Config/../var/consents.db"))
        #expect(loaded.settings.stateDirectory == "Config/../var")
        #expect(loaded.settings.vault.keys == .file(path: "Config/../var/vault-keys.json"))
        #expect(loaded.settings.providers[0].endpoints.token == "http://127.0.0.1:9400/v1/oauth2/token")
    }

    @Test("production.example.yaml is right in all that a later version will have")
    func production() throws {
        let environment = ["CONSENT_GATEWAY__STORE__URL": "postgres://gateway@db.example/consents"]
        let loaded = try SettingsLoader.parse(
            try example(), file: "p.yaml", environment: environment, options: Self.unread)
        #expect(loaded.warnings.isEmpty)
        #expect(loaded.settings.providers.map(\.name) == ["paypal", "acme", "partner", "bank"])
        #expect(loaded.settings.providers[1].refreshTokenReuse == .grace(.seconds(30)))
    }

    @Test("the schema has exactly the keys that the program knows")
    func schema() throws {
        let schema = try readYAML(try SampleSettings.file("Config/gateway.schema.json"), limits: .configuration)
        let known = try SettingsLoader.keysAsked(reading: try example())
        let written = SchemaKeys(schema).keys
        #expect(written.subtracting(known).sorted() == [])
        #expect(known.subtracting(written).sorted() == [])
    }

    @Test("production.example.yaml has every setting, each with a comment above it or above the lines it stands with")
    func everySetting() throws {
        let schema = try readYAML(try SampleSettings.file("Config/gateway.schema.json"), limits: .configuration)
        let text = try example()
        var first: [String: Int] = [:]
        collect(try readYAML(text, limits: .configuration), at: SettingPath.root, into: &first)
        #expect(SchemaKeys(schema).keys.subtracting(first.keys).sorted() == [])
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        for (key, line) in first where !key.hasSuffix(".*") {
            #expect(hasComment(lines.map(String.init), line: line), "\(key)")
        }
    }

    /// Whether a comment stands above the line without a blank line between them.
    private func hasComment(_ lines: [String], line: Int) -> Bool {
        for text in lines[..<line].reversed() {
            let content = text.drop { $0 == " " }
            if content.hasPrefix("#") { return true }
            if content.isEmpty { return false }
        }
        return false
    }

    @Test("the schema closes every object whose keys it names, and every definition is used")
    func schemaIsClosed() throws {
        let text = try SampleSettings.file("Config/gateway.schema.json")
        let schema = try readYAML(text, limits: .configuration)
        let objects = schema.mappings.filter { entries in
            entries.contains { $0.key == "type" && $0.value.content == .scalar("object", style: .quoted) }
        }
        #expect(objects.count > 15)
        for entries in objects { #expect(entries.contains { $0.key == "additionalProperties" }) }
        for definition in schema["$defs"]?.entries ?? [] {
            #expect(String(decoding: text, as: UTF8.self).contains("\"#/$defs/\(definition.key)\""))
        }
    }

    @Test("an unknown key is refused in every section of production.example.yaml")
    func everySectionIsClosed() throws {
        let document = try readYAML(try example(), limits: .configuration)
        let free = ["authorization_parameters", "providers"]
        for (path, line) in sections(document, at: "") where !free.contains(where: { path.hasSuffix($0) }) {
            #expect(line > 0)
            let broken = inserting("surely_unknown: 1", before: line, in: try example())
            var messages: [String] = []
            do {
                _ = try SettingsLoader.parse(broken, file: "p.yaml", environment: [:], options: Self.unread)
            } catch {
                messages = error.entries.filter { $0.message.hasPrefix("unknown key") }.map(\.keyPath)
            }
            #expect(messages.count == 1 && messages[0].hasSuffix("surely_unknown"), "\(path) \(messages)")
        }
    }

    /// Each section in block style with the line of its first key.
    private func sections(_ node: YAMLNode, at path: String) -> [(path: String, line: Int)] {
        switch node.content {
        case .scalar: return []
        case .sequence(let items): return items.flatMap { sections($0, at: path + "[]") }
        case .mapping(let entries):
            let below = entries.flatMap { sections($0.value, at: "\(path).\($0.key)") }
            // A section in flow style begins on the line of its own key.
            guard let first = entries.dropFirst().first, first.line > (entries.first?.line ?? 0) else { return below }
            return [(path, first.line)] + below
        }
    }

    private func inserting(_ text: String, before line: Int, in file: [UInt8]) -> [UInt8] {
        var lines = String(decoding: file, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        let blanks = lines[line - 1].prefix { $0 == " " }
        lines.insert("\(blanks)\(text)", at: line - 1)
        return Array(lines.joined(separator: "\n").utf8)
    }

    /// The line at which each key stands first.
    private func collect(_ node: YAMLNode, at path: SettingPath, into first: inout [String: Int]) {
        switch node.content {
        case .scalar: return
        case .sequence(let items):
            for (index, item) in items.enumerated() { collect(item, at: path.appending(.index(index)), into: &first) }
        case .mapping(let entries):
            for entry in entries {
                let isName = path.pattern == "providers"
                let inner = path.appending(isName ? .name(entry.key) : .key(entry.key))
                if first[inner.pattern] == nil { first[inner.pattern] = entry.line }
                collect(entry.value, at: inner, into: &first)
            }
        }
    }
}
