// SPDX-License-Identifier: Apache-2.0
package import Consents
package import Observability

/// Makes a checkpoint an hour as long as the program serves.
package struct KeepCheckpoints: Sendable {
    private let make: MakeCheckpoint
    private let time: any Timekeeper
    private let log: Log

    /// How often it looks whether the last one is an hour old; another process may have made one.
    package static let lookInterval = Duration.seconds(60)

    package init(make: MakeCheckpoint, time: any Timekeeper, log: Log) {
        self.make = make
        self.time = time
        self.log = log
    }

    /// Returns when its task is cancelled. A failure is told and tried again with the next look.
    package func run() async {
        while !Task.isCancelled {
            do throws(MakeCheckpoint.Failure) {
                try await make()
            } catch .interrupted {
                return
            } catch {
                log.warning("a checkpoint could not be made", [Fact(.reason, "\(error)")])
            }
            do throws(CancellationError) {
                try await time.sleep(until: time.monotonic + Self.lookInterval)
            } catch { return }
        }
    }
}
