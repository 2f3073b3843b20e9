// SPDX-License-Identifier: Apache-2.0
import NativeSystem

/// The HTTP status of the answer to one call, also of a success, whose outcome has no place for it. The call's log line
/// alone reads it.
final class HeardStatus: Sendable {
    private let heard = Locked<Int?>(nil)

    /// Of the call that is being measured; nil where none is.
    @TaskLocal static var current: HeardStatus?

    /// Nil until a whole answer has come.
    var status: Int? {
        get { heard.withLock { $0 } }
        set { heard.withLock { $0 = newValue } }
    }
}
