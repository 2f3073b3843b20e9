// SPDX-License-Identifier: Apache-2.0
internal import NativeYAML

/// Values that may be kept elsewhere: `{env: NAME}`, `{file: PATH}`, `{command: [ARGV…]}`.
extension SectionReader {
    /// How a text that stands in the configuration itself is to be taken.
    enum LiteralRule {
        /// A secret: draws a warning.
        case warned
        /// No secret, only allowed to come from elsewhere, such as a client id.
        case plain
        /// A URL: a secret where it holds a password.
        case url
    }

    /// The value at `key`; nil where it is not there or could not be had (then with an error).
    mutating func secret(_ key: String, literals: LiteralRule) -> SettingsSecret? {
        let (node, override, path) = nodeOrOverride(key)
        if let override { return context.overriding(override, at: path) }
        return (node ?? sectionOfVariables(at: path)).flatMap { context.secret($0, at: path, literals: literals) }
    }

    /// An empty section where variables alone have anything of `path`, such as `…__CLIENT_SECRET__FILE`.
    private func sectionOfVariables(at path: SettingPath) -> YAMLNode? {
        guard context.hasVariable(below: path) else { return nil }
        let line = if case .line(let line) = place { line } else { 1 }
        return YAMLNode(.mapping([]), line: line, column: 1)
    }

    /// The values of a list of secrets; nil where the key is not there.
    mutating func secrets(_ key: String) -> [SettingsSecret]? {
        items(key)?.compactMap { item in
            if let override = context.ask(item.path, isCatalogued: false) {
                return context.overriding(override, at: item.path)
            }
            return context.secret(item.node, at: item.path, literals: .warned)
        }
    }

    /// Where the value at `key` is kept, unread; an error where it stands in the file itself.
    mutating func source(_ key: String) -> SecretSource? {
        let (node, override, path) = nodeOrOverride(key)
        if let override { return context.overriding(override, at: path)?.source }
        guard let node = node ?? sectionOfVariables(at: path) else { return nil }
        guard case .mapping = node.content else {
            context.fail(path, .line(node.line), "must be {file: PATH}, {env: NAME} or {command: [PROGRAM, …]}")
            return nil
        }
        context.record(path, .line(node.line), value: nil)
        return context.source(node, at: path)
    }
}

extension ReadingContext {
    /// A secret that a variable of ours gives directly.
    fileprivate func overriding(_ override: SettingScalar, at path: SettingPath) -> SettingsSecret? {
        guard !override.text.isEmpty else {
            fail(path, override.place, "is empty; give a value or leave the variable out")
            return nil
        }
        record(path, override.place, value: nil)
        return SettingsSecret(override.text, from: .environment(name: path.variable))
    }

    fileprivate func secret(
        _ node: YAMLNode, at path: SettingPath, literals: SectionReader.LiteralRule
    ) -> SettingsSecret? {
        record(path, .line(node.line), value: nil)
        if case .scalar = node.content { return literal(node, at: path, literals) }
        guard let source = source(node, at: path) else { return nil }
        guard readsSecrets else { return SettingsSecret("", from: source) }
        do {
            return try source.read(environment: environment)
        } catch {
            fail(path, .line(node.line), error.sentence)
            return nil
        }
    }

    private func literal(
        _ node: YAMLNode, at path: SettingPath, _ rule: SectionReader.LiteralRule
    ) -> SettingsSecret? {
        guard let scalar = scalar(node, at: path) else { return nil }
        guard !scalar.text.isEmpty else {
            fail(path, scalar.place, "is empty; give a value or leave the key out")
            return nil
        }
        let isSecret =
            switch rule {
            case .warned: true
            case .plain: false
            case .url: WebAddress(scalar.text)?.hasPassword ?? scalar.text.contains("@")
            }
        if isSecret {
            warn(path, scalar.place, "a secret stands in the file; write {env: NAME}, {file: PATH} or {command: […]}")
        }
        return SettingsSecret(scalar.text, from: .literal)
    }

    /// Reads `{env: NAME}` and its like; nil, with an error, for anything else.
    fileprivate func source(_ node: YAMLNode, at path: SettingPath) -> SecretSource? {
        let before = errors.count
        var section = SectionReader(node, at: path, place: .line(node.line), in: self, isCatalogued: false)
        let variable = section.text("env").map { SecretSource.environment(name: $0) }
        let file = section.filePath("file").map { SecretSource.file(path: $0) }
        let command = section.texts("command").flatMap(commandSource)
        section.finish()
        let sources = [variable, file, command].compactMap(\.self)
        guard errors.count == before else { return nil }
        guard sources.count == 1, let source = sources.first else {
            fail(path, .line(node.line), "must have exactly one of env, file and command")
            return nil
        }
        return source
    }

    /// A program named by a relative path with a slash starts at the file's folder; one without a slash is looked for.
    private func commandSource(_ arguments: [String]) -> SecretSource? {
        guard let program = arguments.first else { return nil }
        let resolved = program.contains("/") ? resolve(program) : program
        return .command(arguments: [resolved] + arguments.dropFirst())
    }
}
