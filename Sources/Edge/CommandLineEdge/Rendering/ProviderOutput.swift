// SPDX-License-Identifier: Apache-2.0
internal import NativeJSON

/// A line of `provider list`.
package struct ProviderLine: Sendable, Equatable {
    package var name: String
    /// A profile's title, or what a configured provider is made of.
    package var summary: String

    package init(name: String, summary: String) {
        self.name = name
        self.summary = summary
    }
}

/// What `provider show` tells of a configured provider or of a profile; never a secret.
package struct ProviderSheet: Sendable, Equatable {
    /// A setting by its name in the configuration or profile; nil where nothing is said.
    package struct Fact: Sendable, Equatable {
        package var name: String
        package var value: String?
        /// What it means, for people, that nothing is said.
        package var consequence: String?
        /// Where it comes from, for people, as nothing is said here.
        package var elsewhere: String?

        package init(_ name: String, _ value: String?, none consequence: String? = nil) {
            self.name = name
            self.value = value
            self.consequence = value == nil ? consequence : nil
        }

        /// A setting that is told by somebody else.
        package init(_ name: String, elsewhere: String) {
            self.name = name
            self.elsewhere = elsewhere
        }
    }

    /// What a refusal means.
    package struct Refusal: Sendable, Equatable {
        /// Statuses, errors and a part of the description that it is told by.
        package var signs: String
        /// The class of refresh.md, as in `grant_dead`.
        package var meaning: String

        package init(signs: String, meaning: String) {
            self.signs = signs
            self.meaning = meaning
        }
    }
    package var name: String
    package var title: String
    package var facts: [Fact]
    package var codeRefusals: [Refusal]
    package var refreshRefusals: [Refusal]
    /// A claim, and the members of the provider's answer where it is looked for.
    package var claims: [Fact]

    package init(
        name: String, title: String, facts: [Fact], codeRefusals: [Refusal], refreshRefusals: [Refusal], claims: [Fact]
    ) {
        self.name = name
        self.title = title
        self.facts = facts
        self.codeRefusals = codeRefusals
        self.refreshRefusals = refreshRefusals
        self.claims = claims
    }
}

/// `provider list` and `provider show`.
package enum ProviderOutput {
    package static func list(configured: [ProviderLine], profiles: [ProviderLine], json: Bool) -> CommandOutput {
        if json {
            var document = JSONValue.object()
            document.set("configured", configured.map(document(of:)))
            document.set("profiles", profiles.map(document(of:)))
            return CommandOutput(text: jsonDocument(document))
        }
        let none = "  none\n"
        return CommandOutput(
            text: "Configured:\n" + (configured.isEmpty ? none : table(configured)) + "\nProfiles:\n" + table(profiles))
    }

    private static func table(_ lines: [ProviderLine]) -> String {
        TextTable.text(lines.map { [$0.name, $0.summary] }, indent: 2)
    }

    private static func document(of line: ProviderLine) -> JSONValue {
        ["name": JSONValue(line.name), "summary": JSONValue(line.summary)]
    }

    package static func show(_ sheet: ProviderSheet, json: Bool) -> CommandOutput {
        if json { return CommandOutput(text: jsonDocument(document(of: sheet))) }
        var text = "\(Printable.text(sheet.name)): \(Printable.text(sheet.title))\n"
        text += TextTable.text(
            sheet.facts.map { fact in
                let absence = fact.elsewhere ?? "none" + (fact.consequence.map { ": " + $0 } ?? "")
                return [fact.name, Printable.text(fact.value ?? absence)]
            }, indent: 2)
        text += refusals("A refused code means, by the first line that fits:", sheet.codeRefusals)
        text += refusals("A refused refresh means, by the first line that fits:", sheet.refreshRefusals)
        if !sheet.claims.isEmpty {
            text += "\nAttributes, and where they stand in the answer:\n"
            text += TextTable.text(sheet.claims.map { [$0.name, $0.value ?? ""] }, indent: 2)
        }
        return CommandOutput(text: text)
    }

    private static func refusals(_ title: String, _ refusals: [ProviderSheet.Refusal]) -> String {
        if refusals.isEmpty { return "" }
        return "\n\(title)\n" + TextTable.text(refusals.map { [$0.meaning, $0.signs] }, indent: 2)
    }

    private static func document(of sheet: ProviderSheet) -> JSONValue {
        func object(_ facts: [ProviderSheet.Fact]) -> JSONValue {
            var json = JSONValue.object()
            for fact in facts { json.set(fact.name, fact.value) }
            return json
        }
        func array(_ refusals: [ProviderSheet.Refusal]) -> JSONValue {
            .array(refusals.map { ["meaning": JSONValue($0.meaning), "signs": JSONValue($0.signs)] })
        }
        return [
            "name": JSONValue(sheet.name), "title": JSONValue(sheet.title), "facts": object(sheet.facts),
            "code_refusals": array(sheet.codeRefusals), "refresh_refusals": array(sheet.refreshRefusals),
            "claims": object(sheet.claims),
        ]
    }
}
