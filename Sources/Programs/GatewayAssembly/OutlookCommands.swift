// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import ConsentUseCases
import Consents
import NativeSystem
import Settings

/// `refresh --plan` and `refresh --simulate`: they look ahead over all grants, a page at a time, and send nothing.
struct OutlookCommands: Sendable {
    let place: Workplace
    let gateway: Gateway
    let json: Bool

    func plan(of provider: String?) async -> CommandOutput {
        if let provider, let output = gateway.refusal(of: provider) { return output }
        var outlook = RefreshOutlook(at: place.time.now, policies: policies(of: provider))
        do throws(StoreFailure) {
            try await SurveyGrants(gateway.store, of: provider)() { outlook.add($0) }
            return OutlookOutput.plan(outlook, json: json)
        } catch {
            return gateway.output(of: error)
        }
    }

    func forecast(_ request: ForecastRequest) async -> CommandOutput {
        if let provider = request.provider, let output = gateway.refusal(of: provider) { return output }
        var forecast = CallForecast(
            from: place.time.now, minutes: request.minutes, policies: policies(of: request.provider), limits: limits)
        do throws(StoreFailure) {
            try await SurveyGrants(gateway.store, of: request.provider)() { forecast.add($0) }
        } catch {
            return gateway.output(of: error)
        }
        if let path = request.chartPath {
            do throws(FileWritingFailure) {
                try replaceFile(Array(ForecastChart.svg(forecast).utf8), at: path, permissions: 0o644)
            } catch {
                return .failure("\(path): \(error.sentence)", status: .partlyDone)
            }
        }
        return ForecastOutput.forecast(forecast, chartPath: request.chartPath, json: json)
    }

    private func policies(of provider: String?) -> [ProviderKey: RefreshPolicy] {
        let meant = gateway.directory.all.map(\.facts).filter { provider == nil || $0.key.name == provider }
        return Dictionary(meant.map { ($0.key, $0.policy) }) { first, _ in first }
    }

    private var limits: [ProviderKey: CallBudget] {
        var limits: [ProviderKey: CallBudget] = [:]
        for provider in place.settings.providers {
            limits[ProviderFacts(provider).key] = provider.rateLimit.flatMap {
                CallBudget(calls: $0.count, period: $0.period)
            }
        }
        return limits
    }
}
