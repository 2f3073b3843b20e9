// SPDX-License-Identifier: Apache-2.0

/// What work that a request began can say of it, many calls further down. Nothing but log lines reads it.
package enum LogContext {
    /// The request whose answer is being made, also in the flight that it launched; nil in work that no request began.
    @TaskLocal package static var requestID: String?
}
