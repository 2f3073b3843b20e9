// SPDX-License-Identifier: Apache-2.0
internal import NativeSystem

extension MetricReading {
    /// What the system says of this process.
    package static var ofProcess: [MetricReading] {
        [
            MetricReading(.processCPU, []) { processUsage()?.cpuSeconds },
            MetricReading(.processResidentMemory, []) { processUsage().map { Double($0.residentBytes) } },
            MetricReading(.processOpenFiles, []) { openFileCount().map(Double.init) },
        ]
    }

    /// Always 1.
    package static func buildInfo(version: String) -> MetricReading {
        MetricReading(.buildInfo, [version]) { 1 }
    }
}
