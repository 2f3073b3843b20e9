// SPDX-License-Identifier: Apache-2.0
package import Consents

/// `refresh --simulate --svg`: calls a minute, a panel a provider, readable on light and dark ground.
package enum ForecastChart {
    private static let width = 960
    private static let panelHeight = 200
    private static let head = 44
    private static let left = 64
    private static let right = 16
    /// Of a panel: above and below the drawing.
    private static let above = 34
    private static let below = 30
    private static var plotWidth: Int { width - left - right }
    private static var plotHeight: Int { panelHeight - above - below }

    private static let style = """
        text{fill:#222;font:12px system-ui,sans-serif}.h{font-weight:600}.g{fill:#fff}
        .a{stroke:#999}.c{fill:#2f6fb3}.w{fill:none;stroke:#9a6700;stroke-width:1.5}
        .l{stroke:#c03434;stroke-dasharray:6 4}
        @media (prefers-color-scheme:dark){text{fill:#e6e6e6}.g{fill:#161616}.a{stroke:#777}.c{fill:#6aa7e8}
        .w{stroke:#e0b040}.l{stroke:#ff7b72}}
        """

    package static func svg(_ forecast: CallForecast) -> String {
        let providers = forecast.providers
        let height = head + max(1, providers.count) * panelHeight
        let title =
            "Refreshes a minute in \(DurationText.rough(.seconds(forecast.minutes * 60))) from "
            + forecast.from.text
        var svg = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(height)" role="img">
            <title>\(title)</title>
            <style>\(style)</style>
            <rect class="g" width="\(width)" height="\(height)"/>
            <text class="h" x="16" y="26">\(title)</text>

            """
        for (place, provider) in providers.enumerated() {
            svg += "<g transform=\"translate(\(left) \(head + place * panelHeight + above))\">\n"
            svg += panel(provider, forecast) + "</g>\n"
        }
        return svg + "</svg>\n"
    }

    private static func panel(_ provider: ProviderForecast, _ forecast: CallForecast) -> String {
        let limit = provider.limitPerMinute
        let top = max(1, Double(provider.calls.max() ?? 0), limit.map { $0 * 1.1 } ?? 0)
        let summary = "\(counted(provider.total, "call")), \(provider.peak?.calls ?? 0) in the busiest minute"
        let waiting = provider.mostWaiting > 0 ? ", at most \(provider.mostWaiting) waiting" : ""
        var text = "<text class=\"h\" y=\"-14\">\(escaped(provider.key.words))"
        text += "<tspan font-weight=\"400\" dx=\"12\">\(summary)\(waiting)</tspan></text>\n"
        text += "<path class=\"c\" d=\"\(steps(provider.calls, top: top))\"/>\n"
        if let limit {
            let y = place(limit, top)
            text += "<line class=\"l\" x2=\"\(plotWidth)\" y1=\"\(y)\" y2=\"\(y)\"/>"
            text += "<text x=\"-8\" y=\"\(y + 4)\" text-anchor=\"end\">\(ForecastOutput.rounded(limit))</text>\n"
        } else {
            text += "<text x=\"-8\" y=\"4\" text-anchor=\"end\">\(ForecastOutput.rounded(top))</text>\n"
        }
        return text + axis(forecast)
    }

    private static func axis(_ forecast: CallForecast) -> String {
        var text = "<line class=\"a\" x2=\"\(plotWidth)\" y1=\"\(plotHeight)\" y2=\"\(plotHeight)\"/>\n"
        text += "<text x=\"-8\" y=\"\(plotHeight + 4)\" text-anchor=\"end\">0</text>\n"
        for quarter in 0...4 {
            let x = plotWidth * quarter / 4
            let at = ForecastOutput.minute(forecast.minutes * quarter / 4, forecast).text
            let anchor = quarter == 0 ? "start" : quarter == 4 ? "end" : "middle"
            let shown = at.dropFirst(5).prefix(11).map { $0 == "T" ? " " : String($0) }.joined()
            text += "<text x=\"\(x)\" y=\"\(plotHeight + 20)\" text-anchor=\"\(anchor)\">\(shown)</text>\n"
        }
        return text
    }

    /// An area of steps; where there are more minutes than columns, each column shows its busiest minute.
    private static func steps(_ calls: [Int], top: Double) -> String {
        let columns = min(calls.count, plotWidth)
        var path = "M0 \(plotHeight)"
        for column in 0..<columns {
            let part = calls.count * column / columns..<calls.count * (column + 1) / columns
            let height = place(Double(calls[part].max() ?? 0), top)
            path += "V\(height)H\(plotWidth * (column + 1) / columns)"
        }
        return path + "V\(plotHeight)Z"
    }

    /// From the panel's top, in whole units.
    private static func place(_ number: Double, _ top: Double) -> Int {
        plotHeight - Int((number / top * Double(plotHeight)).rounded())
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in Printable.text(text) {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            default: escaped.append(character)
            }
        }
        return escaped
    }
}
