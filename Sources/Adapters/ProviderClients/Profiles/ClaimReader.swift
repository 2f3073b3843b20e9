// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeJSON
import NativeSystem

/// Takes claims out of a userinfo answer. Members that no rule names (aggregated and distributed claims among them)
/// are left where they are; a value of the wrong kind is left out.
struct ClaimReader {
    private let object: JSONValue
    /// Shorter ones than 8 bytes would be found by chance.
    private let sent: [[UInt8]]

    /// - Parameter sent: values that no text may repeat; one that does is left out.
    init(_ object: JSONValue, sent: [SecretText]) {
        self.object = object
        self.sent = sent.compactMap { $0.reveal().utf8.count >= 8 ? Array($0.reveal().utf8) : nil }
    }

    func profile(by rules: [ClaimRule]) -> Profile {
        var profile = Profile(claims: Dictionary(minimumCapacity: rules.count))
        // Backwards: of two rules for one claim the first that finds a value is written last, and nothing is looked up.
        for rule in rules.reversed() {
            switch rule.target {
            case .claim(.sub): if let value = first(rule, identifier) { profile.claims[.sub] = value }
            case .claim(let name):
                if let value = first(rule, { claim($0, rule.form) }) { profile.claims[name] = value }
            case .address: if let parts = first(rule, address) { profile.address = parts }
            }
        }
        return profile
    }

    /// The first value that the rule's members hold and that can be read.
    private func first<Value>(_ rule: ClaimRule, _ read: (JSONValue) -> Value?) -> Value? {
        for path in rule.paths {
            if let member = member(at: path), let value = read(member) { return value }
        }
        return nil
    }

    private func member(at path: ClaimPath) -> JSONValue? {
        var here = object
        for step in path.steps {
            guard let member = here[step.name] else { return nil }
            here = member
            guard let selector = step.selector, let elements = member.array else { continue }
            let chosen = elements.first { $0[selector].flatMap(ClaimReader.flag) == true } ?? elements.first
            guard let chosen else { return nil }
            here = chosen
        }
        return here
    }

    private func claim(_ value: JSONValue, _ form: ClaimRule.Form) -> ClaimValue? {
        switch form {
        case .text: text(value).map(ClaimValue.text)
        case .boolean: ClaimReader.flag(value).map(ClaimValue.flag)
        case .number: ClaimReader.number(value).map(ClaimValue.integer)
        case .address: nil
        }
    }

    private func identifier(_ value: JSONValue) -> ClaimValue? {
        text(value).flatMap { $0.utf8.count <= ClaimReader.longestIdentifier ? .text($0) : nil }
    }

    private func address(_ value: JSONValue) -> [AddressPart: String]? {
        if value.kind == .string, let text = text(value) { return [.formatted: text] }
        guard value.kind == .object else { return nil }
        var parts = [AddressPart: String](minimumCapacity: AddressPart.allCases.count)
        for part in AddressPart.allCases {
            if let text = value[part.rawValue].flatMap(text) { parts[part] = text }
        }
        return parts.isEmpty ? nil : parts
    }

    /// Longer texts are left out: no attribute is so long, and each is kept sealed and handed out whole.
    static let longestText = 64 << 10
    /// OpenID Connect Core, section 2, allows 255 ASCII characters; some providers' are URLs.
    static let longestIdentifier = 1024

    /// Nobody's name, address or identifier holds U+0000, and what reads the attributes after us may end a text there:
    /// one person's identifier would then pass for another's.
    private func text(_ value: JSONValue) -> String? {
        guard let text = value.filledText, !text.utf8.span.contains(0), text.utf8.count <= ClaimReader.longestText,
            !sent.contains(where: { ClaimReader.holds(text.utf8, $0) })
        else { return nil }
        return text
    }

    /// Whether those bytes stand in a text as they are.
    private static func holds(_ text: String.UTF8View, _ secret: [UInt8]) -> Bool {
        let bytes = text.span
        guard bytes.count >= secret.count else { return false }
        return (0...(bytes.count - secret.count)).contains { start in
            bytes[start] == secret[0] && secret.indices.allSatisfy { bytes[start + $0] == secret[$0] }
        }
    }

    private static func flag(_ value: JSONValue) -> Bool? {
        if let truth = value.boolean { return truth }
        guard let text = value.filledText else { return nil }
        if text == "1" || text.isSameASCII(as: "true") { return true }
        return text == "0" || text.isSameASCII(as: "false") ? false : nil
    }

    private static func number(_ value: JSONValue) -> Int64? {
        if let integer = value.integer { return integer }
        if let real = value.real { return Int64(exactly: real.rounded(.towardZero)) }
        return value.string.flatMap { Int64($0) }
    }
}
