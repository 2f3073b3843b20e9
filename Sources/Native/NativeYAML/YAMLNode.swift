// SPDX-License-Identifier: Apache-2.0

/// One value of a YAML document, with its place. A scalar is text: nothing is read from how it looks.
package struct YAMLNode: Sendable, Equatable {
    package enum Content: Sendable, Equatable {
        case scalar(String, style: ScalarStyle)
        case sequence([YAMLNode])
        /// In the order of the document; keys are unique.
        case mapping([YAMLEntry])
    }

    package enum ScalarStyle: Sendable, Equatable { case plain, quoted, block }

    package var content: Content
    /// From 1.
    package var line: Int
    /// From 1, in characters.
    package var column: Int

    package init(_ content: Content, line: Int, column: Int) {
        self.content = content
        self.line = line
        self.column = column
    }

    /// Whether nothing stands here, as after `providers:` at the end of a line.
    package var isBlank: Bool { content == .scalar("", style: .plain) }
}

/// One key of a mapping and what stands at it.
package struct YAMLEntry: Sendable, Equatable {
    package var key: String
    /// The key's own line, from 1.
    package var line: Int
    /// The key's own column, from 1.
    package var column: Int
    package var value: YAMLNode

    package init(key: String, line: Int, column: Int, value: YAMLNode) {
        self.key = key
        self.line = line
        self.column = column
        self.value = value
    }
}

/// Why a text is no document that we take.
package struct YAMLFailure: Error, Sendable, Equatable {
    /// From 1.
    package var line: Int
    /// From 1.
    package var column: Int
    /// What is wrong; never a value of the document, at most a key's name.
    package var problem: String
}

/// What a document may cost.
package struct YAMLLimits: Sendable {
    /// Bytes of the text.
    package var bytes: Int
    /// Collections inside one another.
    package var depth: Int
    /// Nodes of the tree, those of aliases counted each time they are used.
    package var nodes: Int

    package init(bytes: Int, depth: Int, nodes: Int) {
        self.bytes = bytes
        self.depth = depth
        self.nodes = nodes
    }

    /// Enough for any configuration: 1 MiB, 32 levels, 50,000 nodes.
    package static let configuration = YAMLLimits(bytes: 1 << 20, depth: 32, nodes: 50_000)
}
