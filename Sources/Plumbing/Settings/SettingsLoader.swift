// SPDX-License-Identifier: Apache-2.0
internal import NativeSystem
internal import NativeYAML

/// What a reading of the configuration does beside reading.
package struct SettingsOptions: Sendable {
    /// Whether secrets are fetched from variables, files and commands; without, those are empty.
    package var readsSecrets: Bool
    /// Whether a setting whose feature is not built yet is an error.
    package var refusesNotYetBuilt: Bool

    package init(readsSecrets: Bool, refusesNotYetBuilt: Bool) {
        self.readsSecrets = readsSecrets
        self.refusesNotYetBuilt = refusesNotYetBuilt
    }

    /// As every command reads it.
    package static let whole = SettingsOptions(readsSecrets: true, refusesNotYetBuilt: true)
    /// As a command that needs no secret may read it, such as `keys init`.
    package static let withoutSecrets = SettingsOptions(readsSecrets: false, refusesNotYetBuilt: true)
}

/// Finds, reads and checks the configuration.
package enum SettingsLoader {
    /// The file that is meant: `--config FILE`, else `CONSENT_GATEWAY_CONFIG`, else `Config/gateway.yaml`.
    package static func filePath(option: String?, environment: [String: String]) -> String {
        if let option { return option }
        let named = environment["CONSENT_GATEWAY_CONFIG"] ?? ""
        return named.isEmpty ? "Config/gateway.yaml" : named
    }

    /// Reads the file that is meant, overridden by `environment`, with all its secrets. Call it again on SIGHUP.
    /// - Parameter path: what `--config` gave.
    /// - Throws: ``SettingsErrors`` with everything that is wrong.
    package static func load(
        path: String?, environment: [String: String], options: SettingsOptions
    ) throws(SettingsErrors) -> LoadedSettings {
        let file = filePath(option: path, environment: environment)
        let text: [UInt8]
        do {
            text = try readFile(at: file, limit: YAMLLimits.configuration.bytes).bytes
        } catch {
            let message = "\(error.sentence); give --config FILE or set CONSENT_GATEWAY_CONFIG"
            throw SettingsErrors([SettingsNote(origin: file, line: nil, keyPath: "", message: message)])
        }
        return try parse(text, file: file, environment: environment, options: options)
    }

    /// Reads a configuration from its text.
    /// - Parameter file: its name for messages; relative paths start at this file's folder.
    /// - Throws: ``SettingsErrors`` with everything that is wrong.
    package static func parse(
        _ text: [UInt8], file: String, environment: [String: String], options: SettingsOptions
    ) throws(SettingsErrors) -> LoadedSettings {
        try parse(
            text, file: file, environment: environment, options: options, profiles: try BuiltInProfiles.load())
    }

    /// The same with profiles that were read before, for whoever reads many configurations.
    /// - Throws: ``SettingsErrors`` with everything that is wrong.
    package static func parse(
        _ text: [UInt8], file: String, environment: [String: String], options: SettingsOptions,
        profiles: BuiltInProfiles
    ) throws(SettingsErrors) -> LoadedSettings {
        let (settings, context) = try read(
            text, file: file, environment: environment, options: options, profiles: profiles)
        let warnings = inOrder(context.warnings)
        guard context.errors.isEmpty else { throw SettingsErrors(inOrder(context.errors), warnings: warnings) }
        return LoadedSettings(settings: settings, warnings: warnings, filePath: file)
    }

    /// The keys that the reading of `text` asked for: `providers.*.client_id`, `notices[].id`. Of a section that
    /// stands nowhere only the section itself is among them.
    /// - Throws: ``SettingsErrors`` where the text is no YAML.
    package static func keysAsked(reading text: [UInt8]) throws(SettingsErrors) -> Set<String> {
        let options = SettingsOptions(readsSecrets: false, refusesNotYetBuilt: false)
        return try read(
            text, file: "gateway.yaml", environment: [:], options: options, profiles: try BuiltInProfiles.load()
        ).context.catalogue
    }

    private static func read(
        _ text: [UInt8], file: String, environment: [String: String], options: SettingsOptions,
        profiles: BuiltInProfiles
    ) throws(SettingsErrors) -> (settings: GatewaySettings, context: ReadingContext) {
        let context = ReadingContext(
            file: file, folder: folder(of: file), environment: environment, readsSecrets: options.readsSecrets)
        let document = try context.document(text)
        var root = SectionReader(document, at: .root, place: .file, in: context, isCatalogued: true)
        let settings = GatewaySettings(&root, profiles: profiles)
        CrossChecks.run(on: settings, context)
        if options.refusesNotYetBuilt { NotYetBuilt.refuse(in: settings, context) }
        context.warnOfUnknownVariables()
        return (settings, context)
    }

    private static func folder(of file: String) -> String {
        guard let slash = file.lastIndex(of: "/") else { return "" }
        return slash == file.startIndex ? "/" : String(file[..<slash])
    }

    /// By line, what is about no line last; otherwise as they were found.
    private static func inOrder(_ notes: [SettingsNote]) -> [SettingsNote] {
        notes.enumerated().sorted { first, second in
            let lines = (first.element.line ?? .max, second.element.line ?? .max)
            return lines.0 == lines.1 ? first.offset < second.offset : lines.0 < lines.1
        }.map(\.element)
    }
}
