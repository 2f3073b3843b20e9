// SPDX-License-Identifier: Apache-2.0

/// Reads one YAML document (JSON is YAML) into a tree. Aliases are replaced by what their anchor holds.
///
/// Refused, each with its line: more than `limits` allow, bytes that are not UTF-8, NUL, explicit tags, a key twice,
/// keys that are no scalars, an alias without an anchor before it, and more than one document.
/// - Throws: ``YAMLFailure``, the first that is met. An empty text gives a blank scalar.
package func readYAML(_ bytes: [UInt8], limits: YAMLLimits) throws(YAMLFailure) -> YAMLNode {
    guard bytes.count <= limits.bytes else {
        throw YAMLFailure(line: 1, column: 1, problem: "larger than \(limits.bytes) bytes")
    }
    try refuseForeignBytes(bytes)
    var builder = YAMLTreeBuilder(reader: try YAMLEventReader(bytes), limits: limits)
    return try builder.document()
}

/// libyaml reports such bytes too, but with an offset in place of a line.
private func refuseForeignBytes(_ bytes: [UInt8]) throws(YAMLFailure) {
    if let position = bytes.firstIndex(of: 0) {
        throw YAMLFailure(line: line(of: position, in: bytes), column: 1, problem: "contains a NUL byte")
    }
    var decoder = UTF8()
    var iterator = bytes.makeIterator()
    var lines = 1
    while true {
        switch decoder.decode(&iterator) {
        case .scalarValue(let scalar): if scalar == "\n" { lines += 1 }
        case .emptyInput: return
        case .error: throw YAMLFailure(line: lines, column: 1, problem: "contains bytes that are not UTF-8")
        }
    }
}

private func line(of position: Int, in bytes: [UInt8]) -> Int {
    bytes[..<position].reduce(1) { $0 + ($1 == 10 ? 1 : 0) }
}

/// Puts events together to a tree, within limits.
private struct YAMLTreeBuilder: ~Copyable {
    /// What an anchor holds, and what using it once more costs.
    private struct Anchored {
        var node: YAMLNode
        var nodes: Int
        var height: Int
    }

    private var reader: YAMLEventReader
    private let limits: YAMLLimits
    private var anchors: [String: Anchored] = [:]
    private var nodes = 0

    init(reader: consuming YAMLEventReader, limits: YAMLLimits) {
        self.reader = reader
        self.limits = limits
    }

    mutating func document() throws(YAMLFailure) -> YAMLNode {
        var root: YAMLNode?
        while true {
            let placed = try reader.next()
            switch placed.event {
            case .streamEnd: return root ?? YAMLNode(.scalar("", style: .plain), line: 1, column: 1)
            case .documentStart:
                guard root == nil else { throw failure(placed, "a second document: one file holds one document") }
                root = try node(try reader.next(), depth: 0).node
            default: continue
            }
        }
    }

    private mutating func node(_ placed: PlacedYAMLEvent, depth: Int) throws(YAMLFailure) -> Anchored {
        nodes += 1
        try refuseExcess(placed, depth: depth)
        let before = nodes
        var height = 0
        let content: YAMLNode.Content
        let anchor: String?
        switch placed.event {
        case .alias(let name): return try use(name, at: placed, depth: depth)
        case .scalar(let text, let style, let name): (content, anchor) = (.scalar(text, style: style), name)
        case .sequenceStart(let name):
            (content, anchor) = (.sequence(try items(depth: depth + 1, height: &height)), name)
        case .mappingStart(let name):
            (content, anchor) = (.mapping(try entries(depth: depth + 1, height: &height)), name)
        default: throw failure(placed, "a value was expected")
        }
        let node = YAMLNode(content, line: placed.line, column: placed.column)
        let result = Anchored(node: node, nodes: nodes - before + 1, height: height)
        if let anchor { anchors[anchor] = result }
        return result
    }

    private mutating func items(depth: Int, height: inout Int) throws(YAMLFailure) -> [YAMLNode] {
        var items: [YAMLNode] = []
        while true {
            let placed = try reader.next()
            if case .collectionEnd = placed.event { break }
            let item = try node(placed, depth: depth)
            height = max(height, item.height)
            items.append(item.node)
        }
        height += 1
        return items
    }

    private mutating func entries(depth: Int, height: inout Int) throws(YAMLFailure) -> [YAMLEntry] {
        var entries: [YAMLEntry] = []
        var known: Set<String> = []
        while true {
            let placed = try reader.next()
            if case .collectionEnd = placed.event { break }
            let keyNode = try node(placed, depth: depth).node
            guard case .scalar(let key, _) = keyNode.content else {
                throw failure(placed, "a key must be a plain text")
            }
            guard known.insert(key).inserted else { throw failure(placed, "the key \(key) stands here twice") }
            let value = try node(try reader.next(), depth: depth)
            height = max(height, value.height)
            entries.append(YAMLEntry(key: key, line: placed.line, column: placed.column, value: value.node))
        }
        height += 1
        return entries
    }

    private mutating func use(
        _ name: String, at placed: PlacedYAMLEvent, depth: Int
    ) throws(YAMLFailure) -> Anchored {
        guard let anchored = anchors[name] else {
            // Without the name: a text that should have been quoted may be a secret.
            throw failure(placed, "no anchor of this name stands before the alias; a text that begins with * is quoted")
        }
        nodes += anchored.nodes - 1
        try refuseExcess(placed, depth: depth + anchored.height)
        return anchored
    }

    private func refuseExcess(_ placed: PlacedYAMLEvent, depth: Int) throws(YAMLFailure) {
        guard nodes <= limits.nodes else { throw failure(placed, "more than \(limits.nodes) values, aliases included") }
        guard depth <= limits.depth else { throw failure(placed, "nested more than \(limits.depth) levels deep") }
    }

    private func failure(_ placed: PlacedYAMLEvent, _ problem: String) -> YAMLFailure {
        YAMLFailure(line: placed.line, column: placed.column, problem: problem)
    }
}
