// SPDX-License-Identifier: Apache-2.0
import NativeYAML
import Settings

/// What holds for every text of a configuration. No secret is fetched: nothing is run and no file is read.
enum SettingsProperties {
    private static let file = "gateway.yaml"
    private static let profiles = try? BuiltInProfiles.load()

    static func check(_ input: [UInt8], _ breaches: inout Breaches) {
        checkTree(input, &breaches)
        guard let profiles else {
            breaches.expect(false, "there are no profiles")
            return
        }
        let strict = notes(input, .withoutSecrets, profiles)
        check(strict, in: input, &breaches)
        breaches.expect(
            strict == notes(input, .withoutSecrets, profiles), "the same text was read twice, as two configurations")
        // Without what a later version will have there is no more to complain of.
        let lenient = notes(input, SettingsOptions(readsSecrets: false, refusesNotYetBuilt: false), profiles)
        check(lenient, in: input, &breaches)
        breaches.expect(
            (lenient.errors ?? []).allSatisfy { (strict.errors ?? []).contains($0) },
            "a configuration is wrong in more ways where less is refused")
    }

    private struct Notes: Equatable {
        /// Nil where the configuration may be used.
        var errors: [SettingsNote]?
        var warnings: [SettingsNote]
        /// Literal secrets of the providers.
        var secrets: [String] = []
    }

    private static func notes(_ input: [UInt8], _ options: SettingsOptions, _ profiles: BuiltInProfiles) -> Notes {
        do throws(SettingsErrors) {
            let loaded = try SettingsLoader.parse(
                input, file: file, environment: [:], options: options, profiles: profiles)
            let secrets = loaded.settings.providers.flatMap { $0.client.secrets.map { $0.reveal() } }
            return Notes(errors: nil, warnings: loaded.warnings, secrets: secrets)
        } catch {
            return Notes(errors: error.entries, warnings: error.warnings)
        }
    }

    private static func check(_ notes: Notes, in input: [UInt8], _ breaches: inout Breaches) {
        breaches.expect(notes.errors?.isEmpty != true, "a configuration is refused without a reason")
        // libyaml ends a line at each of CR, LF, NEL, LS and PS.
        let lines = 2 + input.count(where: { [0x0A, 0x0D, 0x85, 0xA8, 0xA9].contains($0) })
        for note in (notes.errors ?? []) + notes.warnings {
            breaches.expect(note.origin == file, "a note names no file: \(note)")
            breaches.expect(note.line.map { (1...lines).contains($0) } ?? true, "a note's line is not there: \(note)")
            breaches.expect(!note.message.isEmpty, "a note says nothing")
            breaches.expect(
                !note.description.unicodeScalars.contains { scalar in
                    [.control, .format, .lineSeparator, .paragraphSeparator].contains(
                        scalar.properties.generalCategory)
                }, "a note holds a character that terminals obey: \(note.description.debugDescription)")
            breaches.expect(
                !note.message.contains("unknown key") || note.line != nil && !note.keyPath.isEmpty,
                "an unknown key has no place: \(note)")
            for secret in notes.secrets where secret.utf8.count >= 12 {
                breaches.expect(
                    !Spelling.contains(Array(note.message.utf8), Array(secret.utf8)), "a note tells a secret: \(note)")
            }
        }
        for list in [notes.errors ?? [], notes.warnings] {
            let order = list.map { $0.line ?? .max }
            breaches.expect(order == order.sorted(), "notes stand in no order")
        }
    }

    // MARK: The tree

    private static func checkTree(_ input: [UInt8], _ breaches: inout Breaches) {
        let tree: YAMLNode
        do throws(YAMLFailure) { tree = try readYAML(input, limits: .configuration) } catch {
            breaches.expect(error.line >= 1 && error.column >= 1, "a failure's place is nowhere: \(error)")
            return
        }
        checkPlaces(tree, &breaches)
        let written = flow(tree)
        guard written.count <= YAMLLimits.configuration.bytes else { return }
        do throws(YAMLFailure) {
            let again = try readYAML(written, limits: .configuration)
            breaches.expect(flow(again) == written, "a tree that was written and read again is another one")
        } catch { breaches.expect(false, "a tree that was written again cannot be read: \(error)") }
    }

    private static func checkPlaces(_ node: YAMLNode, _ breaches: inout Breaches) {
        breaches.expect(node.line >= 1 && node.column >= 1, "a node's place is nowhere")
        switch node.content {
        case .scalar: break
        case .sequence(let items): for item in items { checkPlaces(item, &breaches) }
        case .mapping(let entries):
            breaches.expect(Set(entries.map { Array($0.key.utf8) }).count == entries.count, "a key stands there twice")
            for entry in entries { checkPlaces(entry.value, &breaches) }
        }
    }

    /// The tree on one line, each text in double quotes, what is no letter or digit escaped (YAML 1.1, section 5.7).
    private static func flow(_ node: YAMLNode) -> [UInt8] {
        switch node.content {
        case .scalar(let text, _): return quoted(text)
        case .sequence(let items): return Array("[".utf8) + items.flatMap { flow($0) + [0x2C] } + Array("]".utf8)
        case .mapping(let entries):
            return Array("{".utf8) + entries.flatMap { explicit($0) } + Array("}".utf8)
        }
    }

    /// With `?`, for a key may be longer than the 1,024 bytes that a simple one has.
    private static func explicit(_ entry: YAMLEntry) -> [UInt8] {
        Array("? ".utf8) + quoted(entry.key) + Array(" : ".utf8) + flow(entry.value) + [0x2C]
    }

    private static func quoted(_ text: String) -> [UInt8] {
        let escaped = text.unicodeScalars.map { scalar -> String in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9": return String(scalar)
            default:
                let digits = String(scalar.value, radix: 16)
                return "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
            }
        }
        return Array("\"\(escaped.joined())\"".utf8)
    }
}
