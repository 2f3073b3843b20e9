// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The HTTP status of the answer to one call, also of a success, whose outcome has no place for it. The call's log line
/// alone reads it.
final class HeardStatus: Sendable {
    /// 0 until then.
    private let heard = Atomic<Int>(0)

    /// Of the call that is being measured; nil where none is.
    @TaskLocal static var current: HeardStatus?

    /// Nil until a whole answer has come.
    var status: Int? {
        get {
            let status = heard.load(ordering: .relaxed)
            return status == 0 ? nil : status
        }
        set { heard.store(newValue ?? 0, ordering: .relaxed) }
    }
}
