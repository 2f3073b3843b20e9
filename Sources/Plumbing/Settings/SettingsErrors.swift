// SPDX-License-Identifier: Apache-2.0

/// Everything that is wrong with a configuration, as much as one run could find. Never holds a secret's value.
package struct SettingsErrors: Error, Sendable, Equatable, CustomStringConvertible {
    package let entries: [SettingsNote]
    /// What else was noticed, as in ``LoadedSettings``.
    package let warnings: [SettingsNote]

    package init(_ entries: [SettingsNote], warnings: [SettingsNote] = []) {
        self.entries = entries
        self.warnings = warnings
    }

    /// One entry a line.
    package var description: String { entries.map(\.description).joined(separator: "\n") }
}

/// One error or warning: `Config/gateway.yaml:12: providers.paypal.client_idd: unknown key; did you mean client_id?`.
package struct SettingsNote: Sendable, Equatable, CustomStringConvertible {
    /// File as it was named, or the environment variable that set the value.
    package var origin: String
    /// Line from 1; nil where the whole file is meant.
    package var line: Int?
    /// Key path such as `providers.paypal.client_id` or `notices[0].id`; empty where the whole file is meant.
    package var keyPath: String
    /// What is wrong and what to do.
    package var message: String

    package var description: String { "\(place): \(message)" }

    /// File, line and key path.
    var place: String {
        (line.map { "\(origin):\($0)" } ?? origin) + (keyPath.isEmpty ? "" : ": \(keyPath)")
    }
}

/// A configuration that may be used.
package struct LoadedSettings: Sendable {
    package var settings: GatewaySettings
    /// What is allowed but should not stay so, such as a literal secret.
    package var warnings: [SettingsNote]
    /// The file that was read, as it was named.
    package var filePath: String
}
