// SPDX-License-Identifier: Apache-2.0
import NativeYAML

/// The keys that a JSON Schema allows, as the settings name them: `providers.*.client_id`, `notices[].id`.
struct SchemaKeys {
    private let definitions: YAMLNode?
    private(set) var keys: Set<String> = []

    /// - Parameter root: the schema, read as YAML.
    init(_ root: YAMLNode) {
        definitions = root["$defs"]
        collect(root, at: "")
    }

    private mutating func collect(_ schema: YAMLNode, at path: String) {
        if case .scalar(let reference, _)? = schema["$ref"]?.content {
            let name = String(reference.dropFirst("#/$defs/".count))
            // Where a secret is kept is part of its value, not a setting.
            if name != "secret", name != "source", let target = definitions?[name] { collect(target, at: path) }
        }
        for entry in schema["properties"]?.entries ?? [] {
            let key = path.isEmpty ? entry.key : "\(path).\(entry.key)"
            keys.insert(key)
            collect(entry.value, at: key)
        }
        if let free = schema["additionalProperties"], !free.entries.isEmpty { collect(free, at: path + ".*") }
        if let items = schema["items"] { collect(items, at: path + "[]") }
        if case .sequence(let choices)? = schema["anyOf"]?.content {
            for choice in choices { collect(choice, at: path) }
        }
    }
}

extension YAMLNode {
    var entries: [YAMLEntry] {
        if case .mapping(let entries) = content { entries } else { [] }
    }

    subscript(key: String) -> YAMLNode? { entries.first { $0.key == key }?.value }

    /// Every mapping in the tree, with its own.
    var mappings: [[YAMLEntry]] {
        switch content {
        case .scalar: []
        case .sequence(let items): items.flatMap(\.mappings)
        case .mapping(let entries): [entries] + entries.flatMap(\.value.mappings)
        }
    }
}
