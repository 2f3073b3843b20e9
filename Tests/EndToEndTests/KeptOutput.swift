// SPDX-License-Identifier: Apache-2.0
import NativeJSON
import NativeSystem
import TestSupport

/// What a gateway put out, gathered for the search of `Tests/canary`.
extension TestGateway {
    /// Members that an answer is there to tell: of the record, of the three answers with attributes, of the one with a
    /// token. They are left out of what is gathered; everything else of every answer is searched.
    private static let purposes: Set = ["subject", "provider_subject", "profile", "claims", "access_token"]

    /// Gathers an answer.
    func keep(_ head: String, _ body: [UInt8]) {
        let json = try? JSONValue.parse(body, as: .callers)
        let rest = json.map { TestGateway.withoutPurpose($0).serialized(.compact) } ?? body
        Canary.keep(Array(head.utf8) + [10] + rest, in: .answers)
    }

    private static func withoutPurpose(_ value: JSONValue) -> JSONValue {
        if let elements = value.array { return .array(elements.map(withoutPurpose)) }
        guard value.kind == .object else { return value }
        var rest = JSONValue.object()
        for (name, member) in value.members where !purposes.contains(name) { rest.set(name, withoutPurpose(member)) }
        return rest
    }

    /// Gathers every file that the gateway left, but for those that the operator made: configuration and key rings.
    func keepFiles(in folder: String) {
        for name in (try? names(inDirectory: folder)) ?? []
        where name != "gateway.yaml" && !name.hasPrefix("vault-keys") {
            let path = "\(folder)/\(name)"
            if let content = try? readFile(at: path, limit: 1 << 26) {
                Canary.keep(content.bytes, in: .store)
            } else {
                keepFiles(in: path)
            }
        }
    }
}
