// SPDX-License-Identifier: Apache-2.0
internal import Consents
package import IdentityTokens
package import NativeCurl

/// Fetches documents of issuers over libcurl, on the loop of whoever asks.
package struct CurlDocuments: DocumentSource {
    private static let longest = 256 << 10
    private let connectTimeout: Duration
    private let timeout: Duration
    private let clock: ProviderClock?
    private let client: @Sendable () -> CurlClient?

    /// - Parameters:
    ///   - clock: hears what time it is where a document came from; nil where nobody asks.
    ///   - client: the client of the loop that the caller is on; nil where there is none any more.
    package init(
        connectTimeout: Duration, timeout: Duration, clock: ProviderClock?,
        client: @escaping @Sendable () -> CurlClient?
    ) {
        self.connectTimeout = connectTimeout
        self.timeout = timeout
        self.clock = clock
        self.client = client
    }

    package func get(_ url: ProviderURL) async -> DocumentAnswer {
        guard let client = client() else { return .failed(.notSent(.stopped)) }
        let request = CurlRequest(
            method: .get, url: url.text, headers: [("Accept", "application/json"), ("Cache-Control", "no-cache")],
            connectTimeout: min(connectTimeout, timeout), timeout: timeout, spends: false, addresses: url.addresses)
        switch await client.perform(request) {
        case .answered(let answer):
            guard answer.status == 200 else { return .failed(.status(answer.status)) }
            guard answer.body.count <= Self.longest else { return .failed(.tooLong) }
            clock?.hear(date: answer.headers["date"], age: answer.headers["age"])
            let lifetime = cacheLifetime(
                cacheControl: answer.headers.values(of: "cache-control"), age: answer.headers["age"])
            return .document(answer.body, lifetime: lifetime)
        case .unknown(.bodyTooLarge): return .failed(.tooLong)
        case .unknown: return .failed(.noAnswer)
        case .notSent(let reason): return .failed(.notSent(reason.meaning))
        }
    }
}
