// SPDX-License-Identifier: Apache-2.0

/// What must hold between settings of different sections (contract, section 1; refresh.md, *One refresh*).
enum CrossChecks {
    static func run(on settings: GatewaySettings, _ context: ReadingContext) {
        for provider in settings.providers {
            checkLease(settings, provider, context)
            checkGrace(settings, provider, context)
        }
        UserSessionChecks.run(on: settings, context)
        refuseDoubleNotices(settings, context)
        refuseNamesOfOneVariable(settings, context)
        if settings.providers.isEmpty {
            context.warn(path("providers"), .file, "no provider is configured; nothing can be consented to")
        }
    }

    /// A claim must outlast the call that it covers.
    private static func checkLease(
        _ settings: GatewaySettings, _ provider: ProviderSettings, _ context: ReadingContext
    ) {
        let least = provider.timeouts.connect + provider.timeouts.answer + .seconds(30)
        guard settings.refresh.lease < least else { return }
        let path = path("refresh", "lease")
        context.fail(
            path, place(of: path, provider, context),
            "is under connect + answer + 30s of the provider \(provider.name); give at least \(seconds(least))s")
    }

    /// A drain must outlast the flights that it waits for.
    private static func checkGrace(
        _ settings: GatewaySettings, _ provider: ProviderSettings, _ context: ReadingContext
    ) {
        let least = provider.timeouts.connect + provider.timeouts.answer + .seconds(5)
        guard settings.server.shutdownGrace < least else { return }
        let path = path("server", "shutdown_grace")
        context.fail(
            path, place(of: path, provider, context),
            "is under connect + answer + 5s of the provider \(provider.name); give at least \(seconds(least))s")
    }

    private static func refuseDoubleNotices(_ settings: GatewaySettings, _ context: ReadingContext) {
        var seen: Set<String> = []
        for (index, notice) in settings.notices.enumerated() where !seen.insert(notice.reference).inserted {
            let path = path("notices").appending(.index(index))
            let place = context.place(of: path.appending(.key("id"))) ?? .file
            context.fail(path, place, "the notice \(notice.reference) stands here twice")
        }
    }

    /// `a-b` and `a_b` would be overridden by the same variables.
    private static func refuseNamesOfOneVariable(_ settings: GatewaySettings, _ context: ReadingContext) {
        var seen: Set<String> = []
        for provider in settings.providers {
            let path = path("providers").appending(.name(provider.name))
            guard !seen.insert(path.variable).inserted else { continue }
            let place = context.place(of: path.appending(.key("client_id"))) ?? .file
            context.fail(path, place, "another provider's name differs in - and _ only; choose one that differs more")
        }
    }

    /// Where the setting was written, else the provider's timeouts that made the default too short.
    private static func place(
        of path: SettingPath, _ provider: ProviderSettings, _ context: ReadingContext
    ) -> SettingPlace {
        let timeouts = SettingPath(steps: [.key("providers"), .name(provider.name), .key("timeouts")])
        return context.place(of: path) ?? context.place(of: timeouts) ?? .file
    }

    private static func path(_ keys: String...) -> SettingPath { SettingPath(steps: keys.map { .key($0) }) }

    /// Whole seconds, rounded up.
    private static func seconds(_ duration: Duration) -> Int64 {
        duration.components.seconds + (duration.components.attoseconds > 0 ? 1 : 0)
    }
}
