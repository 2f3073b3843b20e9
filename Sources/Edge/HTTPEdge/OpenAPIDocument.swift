// SPDX-License-Identifier: Apache-2.0
import NativeJSON
package import NativeYAML

/// The description of the API (OpenAPI 3.1): `Config/openapi.yaml`, embedded when the program was built, as JSON.
package struct OpenAPIDocument: Sendable {
    /// The document in one line of JSON.
    package let bytes: [UInt8]

    /// - Throws: `YAMLFailure` where the file is no YAML, which a test rules out.
    package static func load() throws(YAMLFailure) -> OpenAPIDocument {
        let tree = try readYAML(PackageResources.openapi_yaml, limits: .configuration)
        return OpenAPIDocument(bytes: json(tree).serialized(.compact))
    }

    private static func json(_ node: YAMLNode) -> JSONValue {
        switch node.content {
        case .scalar(let text, style: .plain): return plain(text)
        case .scalar(let text, _): return JSONValue(text)
        case .sequence(let items): return .array(items.map(json))
        case .mapping(let entries):
            var object = JSONValue.object()
            for entry in entries { object.set(entry.key, json(entry.value)) }
            return object
        }
    }

    /// A plain scalar is what it would be in JSON, else a text: `yes` and `on` are texts, `"200"` is quoted.
    private static func plain(_ text: String) -> JSONValue {
        switch text {
        case "true": JSONValue(true)
        case "false": JSONValue(false)
        case "null": .null
        default: Int64(text).map { JSONValue($0) } ?? JSONValue(text)
        }
    }
}
