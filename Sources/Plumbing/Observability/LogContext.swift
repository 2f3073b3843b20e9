// SPDX-License-Identifier: Apache-2.0

/// The request that work was begun by. Whatever log line is written while it lasts ends with its facts, many calls
/// further down and in the flights that it launched; nothing but log lines reads it.
package struct LogContext: Sendable {
    package let requestID: String
    /// The caller's trace (W3C Trace Context); nil where it named none.
    package let traceID: String?

    /// Nil in work that no request began.
    @TaskLocal package static var current: LogContext?

    package init(requestID: String, traceID: String? = nil) {
        self.requestID = requestID
        self.traceID = traceID
    }

    var requestFact: Fact { Fact(.requestID, requestID) }
    var traceFact: Fact { Fact(.traceID, traceID) }
}
