// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeJSON

/// `refresh --simulate`: the calls to come, as a table.
package enum ForecastOutput {
    /// - Parameter chartPath: where a chart of it was written to; nil where none was.
    package static func forecast(_ forecast: CallForecast, chartPath: String?, json: Bool) -> CommandOutput {
        if json { return CommandOutput(text: jsonDocument(document(forecast))) }
        let span = DurationText.rough(.seconds(forecast.minutes * 60))
        var text =
            "The calls of \(span) from \(forecast.from.text), if each refresh succeeds. Nothing was sent.\n"
        for provider in forecast.providers { text += "\n" + section(provider, forecast) }
        if forecast.unplanned > 0 {
            text += "\n\(counted(forecast.unplanned, "grant")) of providers that are not in the configuration\n"
        }
        if let chartPath { text += "\nchart: \(Printable.text(chartPath))\n" }
        return CommandOutput(text: text)
    }

    private static func section(_ provider: ProviderForecast, _ forecast: CallForecast) -> String {
        let limit = provider.limitPerMinute.map { "at most \(rounded($0)) a minute" } ?? "no rate limit"
        var text = "\(provider.key.words): \(counted(provider.grants, "grant")), \(limit)\n"
        guard let peak = provider.peak else { return text + "  no calls\n" }
        text += "  \(counted(provider.total, "call")), \(peak.calls) in the busiest minute "
        text += "(\(minute(peak.minute, forecast).text))"
        if provider.mostWaiting > 0 { text += "; at most \(provider.mostWaiting) wait for the limit" }
        return text + "\n" + TextTable.text(rows(provider, forecast), indent: 2)
    }

    /// A line for each part of the time, of which there are 24 at most.
    private static func rows(_ provider: ProviderForecast, _ forecast: CallForecast) -> [[String]] {
        let hours = (forecast.minutes + 59) / 60
        let step = (hours + 23) / 24 * 60
        var rows = [["from", "calls", "busiest minute", "waiting"]]
        for start in stride(from: 0, to: forecast.minutes, by: step) {
            let part = start..<min(forecast.minutes, start + step)
            rows.append([
                minute(start, forecast).text, String(provider.calls[part].reduce(0, +)),
                String(provider.calls[part].max() ?? 0), String(provider.waiting[part].max() ?? 0),
            ])
        }
        return rows
    }

    /// With one decimal where it has one.
    static func rounded(_ number: Double) -> String {
        let tenths = Int64(min(max(0, number * 10 + 0.5), 1e15))
        return tenths % 10 == 0 ? String(tenths / 10) : "\(tenths / 10).\(tenths % 10)"
    }

    static func minute(_ number: Int, _ forecast: CallForecast) -> Instant {
        forecast.from.advanced(by: .seconds(number * 60))
    }

    private static func document(_ forecast: CallForecast) -> JSONValue {
        var document = JSONValue.object()
        document.set("from", forecast.from.text)
        document.set("minutes", forecast.minutes)
        document.set("providers", forecast.providers.map { item($0, forecast) })
        document.set("grants_without_provider", forecast.unplanned)
        return document
    }

    private static func item(_ provider: ProviderForecast, _ forecast: CallForecast) -> JSONValue {
        var item = JSONValue.object(of: provider.key)
        item.set("grants", provider.grants)
        item.set("limit_per_minute", provider.limitPerMinute)
        item.set("calls", provider.total)
        item.set("busiest_minute", provider.peak.map { minute($0.minute, forecast).text })
        item.set("calls_in_busiest_minute", provider.peak?.calls ?? 0)
        item.set("most_waiting", provider.mostWaiting)
        item.set("calls_per_minute", provider.calls)
        item.set("waiting", provider.waiting)
        return item
    }
}
