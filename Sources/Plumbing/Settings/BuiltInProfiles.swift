// SPDX-License-Identifier: Apache-2.0
internal import NativeYAML

/// The profiles that the program carries: `Config/providers/*.yaml`, embedded when it was built.
package struct BuiltInProfiles: Sendable {
    /// What every provider without a preset has.
    package let generic: ProfileSettings
    /// By name, those that a provider can name as its `preset`.
    package let presets: [ProfileSettings]

    /// The files of the presets, by their names.
    static let presetFiles: [(name: String, text: [UInt8])] = [
        ("paypal", PackageResources.paypal_yaml), ("google", PackageResources.google_yaml),
        ("apple", PackageResources.apple_yaml), ("microsoft", PackageResources.microsoft_yaml),
        ("okta", PackageResources.okta_yaml), ("glewlwyd", PackageResources.glewlwyd_yaml),
        ("idpy-oidc", PackageResources.idpy_oidc_yaml),
        ("django-oauth-toolkit", PackageResources.django_oauth_toolkit_yaml),
    ]

    /// Reads them.
    /// - Throws: ``SettingsErrors`` where one of them is wrong, which a test rules out.
    package static func load() throws(SettingsErrors) -> BuiltInProfiles {
        let generic = try profile(PackageResources.generic_yaml, named: "generic")
        let presets = try presetFiles.map { file throws(SettingsErrors) in
            var profile = try profile(file.text, named: file.name)
            // Who says nothing of the claims has the standard's.
            if profile.claims.isEmpty { profile.claims = generic.claims }
            return profile
        }
        return BuiltInProfiles(generic: generic, presets: presets)
    }

    /// Reads one profile from its text.
    /// - Parameter name: for messages: `providers/NAME.yaml`.
    /// - Throws: ``SettingsErrors``.
    package static func profile(_ text: [UInt8], named name: String) throws(SettingsErrors) -> ProfileSettings {
        let context = ReadingContext(file: "providers/\(name).yaml", folder: "", environment: [:], readsSecrets: false)
        let root = try context.document(text)
        var section = SectionReader(root, at: .root, place: .file, in: context, isCatalogued: true)
        let profile = ProfileSettings(&section)
        section.finish()
        guard context.errors.isEmpty else { throw SettingsErrors(context.errors) }
        return profile
    }
}

extension ReadingContext {
    /// The tree of a text; a text that is no YAML is the one error that stops everything.
    func document(_ text: [UInt8]) throws(SettingsErrors) -> YAMLNode {
        do {
            return try readYAML(text, limits: .configuration)
        } catch {
            fail(.root, .line(error.line), "column \(error.column): \(error.problem)")
            throw SettingsErrors(errors)
        }
    }
}
