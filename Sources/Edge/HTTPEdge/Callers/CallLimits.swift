// SPDX-License-Identifier: Apache-2.0
import ConsentUseCases
package import Consents
import NativeSystem

/// The limits of the contract (`server.limits`): requests of a caller, exchanges for a subject, failed logins from an
/// address. They are this process's own.
package final class CallLimits: ExchangeLimit {
    /// So many in so much time.
    package struct Rate: Sendable {
        let count: Int
        let period: Duration

        package init(count: Int, period: Duration) {
            self.count = count
            self.period = period
        }
    }

    private let time: any Timekeeper
    private let requests: Locked<RateLimiter<String>>
    private let exchanges: Locked<RateLimiter<String>>
    private let failedLogins: Locked<RateLimiter<IPAddress?>>

    /// Far more callers, subjects and addresses than are busy at one time.
    private static let capacity = 100_000

    package init(
        requestsPerCaller: Rate, exchangesPerSubject: Rate, failedLoginsPerAddress: Rate, time: any Timekeeper
    ) {
        self.time = time
        requests = Locked(CallLimits.limiter(requestsPerCaller))
        exchanges = Locked(CallLimits.limiter(exchangesPerSubject))
        failedLogins = Locked(CallLimits.limiter(failedLoginsPerAddress))
    }

    private static func limiter<Key>(_ rate: Rate) -> RateLimiter<Key> {
        RateLimiter(count: rate.count, per: rate.period, capacity: capacity)
    }

    /// - Throws: `Problem` 429.
    func countRequest(of caller: String) throws(Problem) {
        try refuse(requests.withLock { $0.take(caller, at: time.monotonic) }, "server.limits.requests_per_caller")
    }

    package func countExchange(for subject: Subject) -> Duration? {
        exchanges.withLock { $0.take(subject.text, at: time.monotonic) }
    }

    /// To be asked after a login has failed: a good key is never held back by others at its address. An IPv6 address
    /// counts for its /64, all of whose addresses one machine can have (RFC 4291, section 2.5.1).
    /// - Throws: `Problem` 429.
    func countFailedLogin(from address: IPAddress?) throws(Problem) {
        try refuse(
            failedLogins.withLock { $0.take(address?.network, at: time.monotonic) },
            "server.limits.failed_logins_per_address")
    }

    private func refuse(_ delay: Duration?, _ setting: String) throws(Problem) {
        if let delay { throw .rateLimited(setting, delay) }
    }
}
