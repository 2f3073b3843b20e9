// SPDX-License-Identifier: Apache-2.0

extension GatewaySettings {
    /// Reads the whole file. What is wrong goes to the section's context.
    init(_ root: inout SectionReader, profiles: BuiltInProfiles) {
        server = ServerSettings(root.section("server"))
        store = StoreSettings(root.section("store"))
        stateDirectory = Self.stateDirectory(&root, store: store)
        vault = VaultSettings(root.section("vault"))
        auth = AuthSettings(root.section("auth"))
        apps = root.sections("apps").map(AppSettings.init)
        notices = root.sections("notices").map(NoticeSettings.init)
        providers = root.namedSections("providers").map { name, section in
            ProviderSettings(name: name, section, profiles: profiles)
        }
        refresh = RefreshSettings(root.section("refresh"))
        retention = RetentionSettings(root.section("retention"))
        webhooks = root.sections("webhooks").map(WebhookSettings.init)
        logging = LoggingSettings(root.section("logging"))
        root.finish()
    }

    private static func stateDirectory(_ root: inout SectionReader, store: StoreSettings) -> String {
        if let path = root.filePath("state_dir") { return path }
        switch store.location {
        case .sqlite(let path):
            guard let slash = path.lastIndex(of: "/") else { return "." }
            return slash == path.startIndex ? "/" : String(path[..<slash])
        case .postgres:
            root.fail("state_dir", "is missing; with PostgreSQL give a folder on a disk that outlives the process")
            return ""
        }
    }
}

extension StoreSettings {
    fileprivate init(_ given: SectionReader) {
        var section = given
        defer { section.finish() }
        location = Self.location(&section)
        directURL = Self.directURL(&section, location)
        pool = section.integer("pool", in: 1...1000) ?? 8
        let migrate = section.choice("migrate", of: Migration.self)
        self.migrate =
            switch location {
            case .sqlite: migrate ?? .auto
            case .postgres: migrate ?? .manual
            }
    }

    private static func directURL(_ section: inout SectionReader, _ location: Location) -> SettingsSecret? {
        guard let url = section.secret("direct_url", literals: .url) else { return nil }
        if case .sqlite = location {
            section.fail("direct_url", "goes past a pooler of PostgreSQL's; a SQLite file has none")
        } else if case let text = url.reveal(), !text.isEmpty, !text.hasPrefix("postgres://"),
            !text.hasPrefix("postgresql://")
        {
            section.fail("direct_url", "is no PostgreSQL database; write postgres://user@host/database")
        }
        return url
    }

    private static func location(_ section: inout SectionReader) -> Location {
        guard let url = section.secret("url", literals: .url) else {
            if !section.has("url") {
                section.fail("url", "is missing; write sqlite:PATH or postgres://user@host/database")
            }
            return .sqlite(path: "")
        }
        let text = url.reveal()
        if text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") { return .postgres(url: url) }
        let isUnread = text.isEmpty
        let path = String(text.dropFirst("sqlite:".count))
        if !isUnread, !text.hasPrefix("sqlite:") || path.isEmpty || path.hasPrefix("//") {
            section.fail("url", "is no store; write sqlite:PATH or postgres://user@host/database")
        } else if path == ":memory:" {
            section.fail("url", "a database in memory keeps nothing; write sqlite:PATH")
        }
        return .sqlite(path: section.context.resolve(path))
    }
}

extension VaultSettings {
    fileprivate init(_ given: SectionReader) {
        var section = given
        defer { section.finish() }
        keys = section.source("keys") ?? .literal
        if keys == .literal, !section.has("keys") {
            section.fail("keys", "is missing; write {file: PATH}, and `consent-gateway keys init` makes it")
        }
    }
}

extension RefreshSettings {
    fileprivate init(_ given: SectionReader) {
        var section = given
        defer { section.finish() }
        isEnabled = section.boolean("enabled") ?? true
        concurrency = section.integer("concurrency", in: 1...10_000) ?? 64
        lease = section.duration("lease") ?? .seconds(120)
    }
}

extension RetentionSettings {
    fileprivate init(_ given: SectionReader) {
        var section = given
        defer { section.finish() }
        let day = Duration.seconds(86_400)
        records = section.duration("records") ?? day * 90
        evidence = section.duration("evidence") ?? day * 365 * 6
        reauthorizationRequired = section.duration("reauthorization_required") ?? day * 90
        exchanges = section.duration("exchanges") ?? day * 90
    }
}

extension WebhookSettings {
    static let eventTypes = [
        "created", "renewed", "profile_changed", "reauthorization_soon", "reauthorization_required", "superseded",
        "revoked", "erased",
    ].map { "consent.\($0)" }

    fileprivate init(_ given: SectionReader) {
        var section = given
        defer { section.finish() }
        url = section.secret("url", literals: .url) ?? SettingsSecret("", from: .literal)
        if !section.has("url") { section.fail("url", "is missing; give the address to deliver to") }
        let problem = WebhookSettings.urlProblem(url.reveal())
        if let problem { section.fail("url", problem) }
        secrets = section.oneOrMoreSecrets("secret", "secrets")
        if !section.has("secret"), !section.has("secrets") {
            section.fail("secret", "is missing; deliveries are signed with it")
        }
        events = section.words("events", of: Self.eventTypes + ["consent.*"]) ?? ["consent.*"]
    }

    /// A URL that may hold a user and password, else as every endpoint; unread or missing ones are not looked at.
    private static func urlProblem(_ text: String) -> String? {
        guard !text.isEmpty else { return nil }
        guard let address = WebAddress(text) else { return "is no URL that can be called; write https://host/path" }
        let isAllowed = address.scheme == "https" || address.scheme == "http" && address.isLoopback
        return isAllowed ? nil : "must begin with https:// (plain http is for this machine only)"
    }
}

extension LoggingSettings {
    fileprivate init(_ given: SectionReader) {
        var section = given
        defer { section.finish() }
        level = section.choice("level", of: Level.self) ?? .info
        format = section.choice("format", of: Format.self) ?? .text
    }
}

extension SectionReader {
    /// One secret at `one`, or a list at `many` while it is being changed; both at once are an error.
    mutating func oneOrMoreSecrets(_ one: String, _ many: String) -> [SettingsSecret] {
        let single = secret(one, literals: .warned)
        let before = context.errors.count
        let several = secrets(many)
        // Of entries that could not be had each has its own error.
        let isWanting = context.errors.count > before
        if has(one), has(many) { fail(many, "stands beside \(one); keep one of the two") }
        if let several, several.isEmpty, !isWanting { fail(many, "must not be an empty list") }
        if has(many), !isInFile(many) {
            fail(many, "is not in the file; variables override the entries of a list that is there")
        }
        return several ?? single.map { [$0] } ?? []
    }
}
