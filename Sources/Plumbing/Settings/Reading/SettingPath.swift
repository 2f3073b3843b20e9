// SPDX-License-Identifier: Apache-2.0

/// The way to one setting: `providers.paypal.client_id`, `notices[0].id`.
struct SettingPath: Sendable, Hashable, CustomStringConvertible {
    enum Step: Sendable, Hashable {
        /// A key that the gateway knows.
        case key(String)
        /// A name that the operator chose, such as a provider's.
        case name(String)
        /// A place in a list, from 0.
        case index(Int)
    }

    var steps: [Step] = []

    static let root = SettingPath()

    func appending(_ step: Step) -> SettingPath { SettingPath(steps: steps + [step]) }

    /// As people write it, an empty key as `""`.
    var description: String {
        steps.reduce(into: "") { text, step in
            switch step {
            case .key(let key), .name(let key): text += (text.isEmpty ? "" : ".") + (key.isEmpty ? "\"\"" : key)
            case .index(let index): text += "[\(index)]"
            }
        }
    }

    /// The same for every provider and every place in a list: `providers.*.client_id`, `notices[].id`.
    var pattern: String {
        steps.reduce(into: "") { text, step in
            switch step {
            case .key(let key): text += text.isEmpty ? key : ".\(key)"
            case .name: text += ".*"
            case .index: text += "[]"
            }
        }
    }

    /// The environment variable that overrides it: `CONSENT_GATEWAY__PROVIDERS__PAYPAL__CLIENT_ID`. What is neither
    /// a letter nor a digit becomes `_`.
    var variable: String {
        steps.reduce(into: "CONSENT_GATEWAY") { text, step in
            switch step {
            case .key(let key), .name(let key): text += "__" + String(key.uppercased().map(Self.variableCharacter))
            case .index(let index): text += "__\(index)"
            }
        }
    }

    static let variablePrefix = "CONSENT_GATEWAY__"

    private static func variableCharacter(_ character: Character) -> Character {
        character.isASCII && (character.isLetter || character.isNumber) ? character : "_"
    }
}
