// SPDX-License-Identifier: Apache-2.0
internal import NativeYAML

/// Lists and free-named sections.
extension SectionReader {
    /// A list of texts; nil where the key is not there.
    mutating func texts(_ key: String) -> [String]? {
        scalars(key)?.map(\.text)
    }

    /// A list of texts, each of which `problem` finds nothing wrong with.
    mutating func texts(_ key: String, _ problem: (String) -> String?) -> [String]? {
        let listPath = path.appending(.key(key))
        guard let scalars = scalars(key) else { return nil }
        for (index, scalar) in scalars.enumerated() {
            if let problem = problem(scalar.text) {
                context.fail(listPath.appending(.index(index)), scalar.place, problem)
            }
        }
        return scalars.map(\.text)
    }

    /// A list of words, all of them known and each once.
    mutating func words(_ key: String, of known: [String]) -> [String]? {
        var seen: Set<String> = []
        return texts(key) { word in
            guard known.contains(word) else {
                let hint = nearest(to: word, among: known).map { "did you mean \($0)?" }
                return "is not known; \(hint ?? "known are \(known.joined(separator: ", "))")"
            }
            return seen.insert(word).inserted ? nil : "stands here twice"
        }
    }

    /// The sections of a list; empty where the key is not there.
    mutating func sections(_ key: String) -> [SectionReader] {
        items(key)?.map { item in
            SectionReader(item.node, at: item.path, place: .line(item.node.line), in: context, isCatalogued: true)
        } ?? []
    }

    /// The sections below `key`, each under a name of the operator's.
    mutating func namedSections(_ key: String) -> [(name: String, section: SectionReader)] {
        let (node, path, place) = collection(key)
        let all = SectionReader(node, at: path, place: place, in: context, isCatalogued: true)
        return all.keys.map { entry in
            let section = SectionReader(
                entry.value, at: path.appending(.name(entry.key)), place: .line(entry.line), in: context,
                isCatalogued: true)
            return (entry.key, section)
        }
    }

    /// Free names with texts, in the order of the file; nil where the key is not there.
    mutating func namedTexts(_ key: String) -> [NamedText]? {
        let (node, path, place) = collection(key)
        guard let node else { return nil }
        let all = SectionReader(node, at: path, place: place, in: context, isCatalogued: true)
        return all.keys.compactMap { entry in
            let entryPath = path.appending(.name(entry.key))
            let override = context.ask(entryPath, isCatalogued: false)
            return (override ?? context.scalar(entry.value, at: entryPath)).map {
                NamedText(name: entry.key, text: $0.text)
            }
        }
    }

    /// The nodes of a list with their paths; nil where the key is not there.
    mutating func items(_ key: String) -> [(node: YAMLNode, path: SettingPath)]? {
        let (node, path, place) = collection(key)
        guard let node, !node.isBlank else { return nil }
        guard case .sequence(let nodes) = node.content else {
            context.fail(path, place, "must be a list; write [first, second] or a line with - for each")
            return nil
        }
        return nodes.enumerated().map { ($0.element, path.appending(.index($0.offset))) }
    }

    private mutating func scalars(_ key: String) -> [SettingScalar]? {
        items(key)?.compactMap { item in
            let override = context.ask(item.path, isCatalogued: false)
            guard let scalar = override ?? context.scalar(item.node, at: item.path) else { return nil }
            if scalar.text.isEmpty { context.fail(item.path, scalar.place, "is empty") }
            return scalar
        }
    }
}
