// SPDX-License-Identifier: Apache-2.0
internal import NativeYAML

/// Reads the keys of one mapping. Every key that is asked for is known; ``finish()`` reports the others.
///
/// What is wrong goes to the context, and the reader goes on with the default, so that one run finds many errors.
struct SectionReader {
    let context: ReadingContext
    let path: SettingPath
    /// Where the section's key stands.
    let place: SettingPlace
    private let entries: [YAMLEntry]
    private var known: [String] = []
    private let isCatalogued: Bool

    /// - Parameter isCatalogued: whether its keys are settings of their own; those of a secret's source are not.
    init(_ node: YAMLNode?, at path: SettingPath, place: SettingPlace, in context: ReadingContext, isCatalogued: Bool) {
        self.context = context
        self.path = path
        self.place = place
        self.isCatalogued = isCatalogued
        switch node?.content {
        case .mapping(let entries): self.entries = entries
        case nil: entries = []
        default:
            entries = []
            if node?.isBlank != true { context.fail(path, self.place, "must hold keys and values") }
        }
    }

    /// The keys that stand here, in order.
    var keys: [YAMLEntry] { entries }

    /// Whether `key` stands in the file.
    func isInFile(_ key: String) -> Bool { entries.contains { $0.key == key } }

    /// Whether `key` stands here, in the file or by a variable.
    func has(_ key: String) -> Bool {
        let path = path.appending(.key(key))
        return isInFile(key) || context.environment[path.variable] != nil
            || context.hasVariable(below: path)
    }

    /// Reports each key that nobody asked for, with the nearest one that is known.
    func finish() {
        for entry in entries where !known.contains(entry.key) {
            let hint =
                nearest(to: entry.key, among: known).map { "did you mean \($0)?" }
                ?? "known here: \(known.sorted().joined(separator: ", "))"
            context.fail(path.appending(.key(entry.key)), .line(entry.line), "unknown key; \(hint)")
        }
    }

    func fail(_ key: String, _ message: String) {
        let path = path.appending(.key(key))
        context.fail(path, place(of: key), message)
    }

    /// Where `key` stands, for messages of whoever uses the settings.
    func shownPlace(of key: String) -> String { context.shown(path.appending(.key(key)), place(of: key)) }

    /// Where `key` stands, else where the section begins.
    func place(of key: String) -> SettingPlace {
        let variable = path.appending(.key(key)).variable
        if context.environment[variable] != nil { return .variable(variable) }
        return entries.first { $0.key == key }.map { .line($0.line) } ?? place
    }

    /// The value at `key`, where it is to be a section or a list.
    mutating func collection(_ key: String) -> (node: YAMLNode?, path: SettingPath, place: SettingPlace) {
        let (path, override) = ask(key)
        if let override {
            context.fail(path, override.place, "is no single value; variables override single values only")
        }
        let entry = entries.first { $0.key == key }
        if let entry { context.record(path, .line(entry.line), value: nil, count: entry.value.count) }
        return (entry?.value, path, place(of: key))
    }

    /// The section at `key`; without one, a section where nothing stands.
    mutating func section(_ key: String) -> SectionReader {
        let (node, path, place) = collection(key)
        return SectionReader(node, at: path, place: place, in: context, isCatalogued: isCatalogued)
    }

    /// The section at `key`; nil where neither the file nor a variable has anything of it.
    mutating func optionalSection(_ key: String) -> SectionReader? {
        let isThere = has(key)
        let section = section(key)
        return isThere ? section : nil
    }

    /// The single value at `key`: the variable's, else the file's.
    /// - Parameter isSecret: whether its text must stay out of the facts.
    mutating func scalar(_ key: String, isSecret: Bool) -> SettingScalar? {
        let (path, override) = ask(key)
        let entry = entries.first { $0.key == key }
        guard let scalar = override ?? entry.flatMap({ context.scalar($0.value, at: path) }) else { return nil }
        guard !scalar.text.isEmpty else {
            context.fail(path, scalar.place, "is empty; give a value or leave the key out")
            return nil
        }
        context.record(path, scalar.place, value: isSecret ? nil : scalar.text)
        return scalar
    }

    /// The node at `key` where it may be a single value or a section of one of `keys`, and no variable overrides it.
    mutating func nodeOrOverride(_ key: String) -> (node: YAMLNode?, override: SettingScalar?, path: SettingPath) {
        let (path, override) = ask(key)
        return (entries.first { $0.key == key }?.value, override, path)
    }

    private mutating func ask(_ key: String) -> (path: SettingPath, override: SettingScalar?) {
        known.append(key)
        let path = path.appending(.key(key))
        return (path, context.ask(path, isCatalogued: isCatalogued))
    }
}

extension YAMLNode {
    /// How many entries a list or section has; 0 for a blank.
    fileprivate var count: Int {
        switch content {
        case .scalar: isBlank ? 0 : 1
        case .sequence(let items): items.count
        case .mapping(let entries): entries.count
        }
    }
}

extension ReadingContext {
    /// The text of a node that must be a single value; nil, with an error, for anything else.
    func scalar(_ node: YAMLNode, at path: SettingPath) -> SettingScalar? {
        guard case .scalar(let text, _) = node.content else {
            fail(path, .line(node.line), "must be a single value")
            return nil
        }
        guard !node.isBlank else {
            fail(path, .line(node.line), "has no value; give one or leave the key out")
            return nil
        }
        return SettingScalar(text: text, place: .line(node.line))
    }
}
