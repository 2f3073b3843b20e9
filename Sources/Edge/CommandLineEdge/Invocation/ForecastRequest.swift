// SPDX-License-Identifier: Apache-2.0
/// What `refresh --simulate` is asked for.
package struct ForecastRequest: Sendable, Equatable {
    /// How far it looks ahead.
    package var minutes: Int
    /// The configured name; nil takes all.
    package var provider: String?
    /// Where the chart goes; nil draws none.
    package var chartPath: String?

    package init(minutes: Int, provider: String? = nil, chartPath: String? = nil) {
        self.minutes = minutes
        self.provider = provider
        self.chartPath = chartPath
    }

    package static let leastMinutes = 60
    /// 31 days.
    package static let mostMinutes = 31 * 24 * 60
}
