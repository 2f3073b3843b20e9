// SPDX-License-Identifier: Apache-2.0

/// How much a line matters; each level is written where the log's is the same or lower.
package enum LogLevel: String, Sendable, CaseIterable, Comparable {
    case debug, info, notice, warning, error

    var rank: Int {
        switch self {
        case .debug: 0
        case .info: 1
        case .notice: 2
        case .warning: 3
        case .error: 4
        }
    }

    package static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }
}

/// How a line looks.
package enum LogFormat: String, Sendable, CaseIterable {
    /// `time level sentence key=value …`, for people.
    case text
    /// One JSON object a line, for machines.
    case json
}
