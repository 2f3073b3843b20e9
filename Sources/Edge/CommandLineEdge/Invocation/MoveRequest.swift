// SPDX-License-Identifier: Apache-2.0
/// What `migrate --from` is asked for.
package struct MoveRequest: Sendable, Equatable {
    /// Path of the SQLite file, as written.
    package var source: String
    /// URL of the PostgreSQL database; nil is the configured store.
    package var target: String?

    package init(source: String, target: String? = nil) {
        self.source = source
        self.target = target
    }
}
