// SPDX-License-Identifier: Apache-2.0

/// The whole configuration of one gateway, typed, checked and with every default filled in (contract, section 1).
package struct GatewaySettings: Sendable {
    package var server: ServerSettings
    package var store: StoreSettings
    /// Folder of journal, epoch, withdrawn list and locks. Absolute, or starts at the working folder.
    package var stateDirectory: String
    package var vault: VaultSettings
    package var auth: AuthSettings
    package var apps: [AppSettings]
    package var notices: [NoticeSettings]
    /// In the order of the file; names are unique.
    package var providers: [ProviderSettings]
    package var refresh: RefreshSettings
    package var retention: RetentionSettings
    package var webhooks: [WebhookSettings]
    package var logging: LoggingSettings

    /// The provider of that name.
    package func provider(named name: String) -> ProviderSettings? { providers.first { $0.name == name } }
}

/// `store`: where consents are kept.
package struct StoreSettings: Sendable {
    package enum Location: Sendable, Equatable {
        /// A file; the path is absolute or starts at the working folder.
        case sqlite(path: String)
        /// A connection URL, which may hold a password.
        case postgres(url: SettingsSecret)
    }

    package enum Migration: String, Sendable, CaseIterable {
        /// `serve`, `job` and `demo` bring the schema up to date.
        case auto
        /// Only `migrate` does.
        case manual
    }

    package var location: Location
    /// Where `location` leads to a pooler in transaction mode: the server's own URL.
    package var directURL: SettingsSecret?
    /// Connections to PostgreSQL.
    package var pool: Int
    package var migrate: Migration
}

/// `vault`: where the key ring is. The ring is not read while the configuration is: `keys init` has yet to make it.
package struct VaultSettings: Sendable {
    package var keys: SecretSource
}

/// `refresh`: the scheduler as a whole.
package struct RefreshSettings: Sendable {
    package var isEnabled: Bool
    /// Refreshes under way at the same time.
    package var concurrency: Int
    /// How long a claim on a grant holds; at least connect + answer + 30 s of every provider.
    package var lease: Duration
}

/// `retention`: how long what remains after an end is kept.
package struct RetentionSettings: Sendable {
    package var records: Duration
    package var evidence: Duration
    package var reauthorizationRequired: Duration
    package var exchanges: Duration
}

/// One entry of `webhooks`.
package struct WebhookSettings: Sendable {
    /// May hold a password, therefore a secret.
    package var url: SettingsSecret
    /// The newest first; two while one is being changed.
    package var secrets: [SettingsSecret]
    /// Event types, `*` at the end stands for any.
    package var events: [String]
}

/// `logging`.
package struct LoggingSettings: Sendable {
    package enum Level: String, Sendable, CaseIterable { case debug, info, warning, error }
    package enum Format: String, Sendable, CaseIterable { case text, json }

    package var level: Level
    package var format: Format
}
