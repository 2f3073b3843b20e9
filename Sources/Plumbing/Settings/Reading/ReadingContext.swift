// SPDX-License-Identifier: Apache-2.0

/// What one reading of a configuration gathers: errors, warnings, what was written, which keys are known.
///
/// One reading, one thread: made, used and left within `SettingsLoader`.
final class ReadingContext {
    /// The file as it was named, for messages.
    let file: String
    /// Folder at which relative paths start; empty for the working folder.
    let folder: String
    let environment: [String: String]
    let readsSecrets: Bool

    private(set) var errors: [SettingsNote] = []
    private(set) var warnings: [SettingsNote] = []
    /// What stands in the file or the environment, and what defaults the checks must see.
    private(set) var facts: [SettingFact] = []
    /// Patterns of every key that was asked for: the keys that the gateway knows.
    private(set) var catalogue: Set<String> = []
    private var knownVariables: Set<String> = []

    init(file: String, folder: String, environment: [String: String], readsSecrets: Bool) {
        self.file = file
        self.folder = folder
        self.environment = environment
        self.readsSecrets = readsSecrets
    }

    func fail(_ path: SettingPath, _ place: SettingPlace, _ message: String) {
        errors.append(note(path, place, message))
    }

    func warn(_ path: SettingPath, _ place: SettingPlace, _ message: String) {
        warnings.append(note(path, place, message))
    }

    func record(_ path: SettingPath, _ place: SettingPlace, value: String?, count: Int = 1) {
        facts.append(SettingFact(path: path, place: place, value: value, count: count))
    }

    /// Notes that `path` is a setting, and gives the variable that overrides it where it is set.
    func ask(_ path: SettingPath, isCatalogued: Bool) -> SettingScalar? {
        if isCatalogued { catalogue.insert(path.pattern) }
        knownVariables.insert(path.variable)
        return environment[path.variable].map { SettingScalar(text: $0, place: .variable(path.variable)) }
    }

    /// A place as messages begin: `Config/gateway.yaml:12: auth.api_keys[0].name`.
    func shown(_ path: SettingPath, _ place: SettingPlace) -> String { note(path, place, "").place }

    /// Whether a variable is set for anything below `path`.
    func hasVariable(below path: SettingPath) -> Bool {
        let prefix = path.variable + "__"
        return environment.keys.contains { $0.hasPrefix(prefix) }
    }

    /// The place at which `path` was written; nil where a default holds.
    func place(of path: SettingPath) -> SettingPlace? { facts.last { $0.path == path }?.place }

    /// Warns of variables that look like ours and name no setting. They are ignored (contract, section 1).
    func warnOfUnknownVariables() {
        let unknown = environment.keys.filter {
            $0.hasPrefix(SettingPath.variablePrefix) && !knownVariables.contains($0)
        }
        for name in unknown.sorted() {
            let hint = nearest(to: name, among: knownVariables).map { "; did you mean \($0)?" } ?? ""
            warn(.root, .variable(name), "names no setting and is ignored\(hint)")
        }
    }

    /// `path` as the program opens it: from the folder of the file, unless it is absolute.
    func resolve(_ path: String) -> String {
        if path.hasPrefix("/") || folder.isEmpty { return path }
        return folder == "/" ? "/\(path)" : "\(folder)/\(path)"
    }

    private func note(_ path: SettingPath, _ place: SettingPlace, _ message: String) -> SettingsNote {
        let (origin, line): (String, Int?) =
            switch place {
            case .line(let line): (file, line)
            case .file: (file, nil)
            case .variable(let name): (name, nil)
            }
        return SettingsNote(
            origin: origin, line: line, keyPath: Self.printable(path.description), message: Self.printable(message))
    }

    /// Keys and names are whatever the file has: characters that a terminal obeys are spelled, `\u{1B}`.
    private static func printable(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { printed, scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                printed += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            default: printed.unicodeScalars.append(scalar)
            }
        }
    }
}

/// Where a value was written.
enum SettingPlace: Sendable, Equatable {
    /// From 1.
    case line(Int)
    /// The file as a whole.
    case file
    /// An environment variable.
    case variable(String)
}

/// A scalar and its place. It may be a secret: it is only ever shown by rooms that know better.
struct SettingScalar: Sendable {
    var text: String
    var place: SettingPlace
}

/// One setting as it stands.
struct SettingFact: Sendable {
    var path: SettingPath
    var place: SettingPlace
    /// Text of a scalar that is no secret; nil for secrets, sections and lists.
    var value: String?
    /// Of a list or section: how many entries it has; else 1.
    var count: Int
}
