// SPDX-License-Identifier: Apache-2.0
package import Consents
package import NativeCurl

/// Where documents of issuers are fetched.
package protocol DocumentSource: Sendable {
    /// One GET, at most 256 KiB, no redirect followed; it ends by itself within a bounded time.
    func get(_ url: ProviderURL) async -> DocumentAnswer
}

package enum DocumentAnswer: Sendable {
    /// The body of a 200, and how long its headers allow to keep it.
    case document([UInt8], lifetime: Duration?)
    case failed(DocumentFault)
}

/// Why a document cannot be had. Harmless when printed.
package enum DocumentFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// The request did not leave, by the domain's word for the reason.
    case notSent(Consents.NotSentReason)
    /// No whole answer.
    case noAnswer
    /// Another HTTP status than 200.
    case status(Int)
    case tooLong
    case metadata(MetadataFault)
    case keys(String)
    /// The set has no key that can be used.
    case noUsableKey
    /// The metadata name no such place, or one that is not taken.
    case noPlace(ProviderMetadata.Endpoint, EndpointFault?)
    /// It was asked for a moment ago, and the fetch failed.
    case tooEarly

    package var description: String {
        switch self {
        case .notSent(let reason): "the request could not be sent: \(reason.rawValue)"
        case .noAnswer: "no whole answer came"
        case .status(let status): "the answer's status was \(status)"
        case .tooLong: "the answer is longer than 256 KiB"
        case .metadata(let fault): fault.description
        case .keys(let sentence): sentence
        case .noUsableKey: "the provider's key set has no key that can be used"
        case .noPlace(let place, nil): "the provider's metadata have no \(place.rawValue)"
        case .noPlace(let place, let fault?): "the provider's \(place.rawValue) is not taken: \(fault.description)"
        case .tooEarly: "the last fetch failed a moment ago"
        }
    }
}

/// Over libcurl, on the loop of whoever asks.
package struct CurlDocuments: DocumentSource {
    private static let longest = 256 << 10
    private let connectTimeout: Duration
    private let timeout: Duration
    private let client: @Sendable () -> CurlClient?

    /// - Parameter client: the client of the loop that the caller is on; nil where there is none any more.
    package init(connectTimeout: Duration, timeout: Duration, client: @escaping @Sendable () -> CurlClient?) {
        self.connectTimeout = connectTimeout
        self.timeout = timeout
        self.client = client
    }

    package func get(_ url: ProviderURL) async -> DocumentAnswer {
        guard let client = client() else { return .failed(.notSent(.stopped)) }
        let request = CurlRequest(
            method: .get, url: url.text, headers: [("Accept", "application/json")],
            connectTimeout: min(connectTimeout, timeout), timeout: timeout, spends: false, addresses: url.addresses)
        switch await client.perform(request) {
        case .answered(let answer):
            guard answer.status == 200 else { return .failed(.status(answer.status)) }
            guard answer.body.count <= Self.longest else { return .failed(.tooLong) }
            let lifetime = cacheLifetime(
                cacheControl: answer.headers.values(of: "cache-control"), age: answer.headers["age"])
            return .document(answer.body, lifetime: lifetime)
        case .unknown(.bodyTooLarge): return .failed(.tooLong)
        case .unknown: return .failed(.noAnswer)
        case .notSent(let reason): return .failed(.notSent(Self.meaning(reason)))
        }
    }

    /// The same in the domain's words.
    private static func meaning(_ reason: NativeCurl.NotSentReason) -> Consents.NotSentReason {
        switch reason {
        case .badURL, .badRequest, .plainHTTPRefused, .local: .configuration
        case .addressRefused: .refusedAddress
        case .resolve: .resolve
        case .connect: .connect
        case .tls(.handshake), .tls(.clientCertificate): .tls
        case .tls(.verification): .certificateUntrusted
        case .tls(.expired): .certificateExpired
        case .tls(.otherHost): .certificateOfOtherHost
        case .tls(.trustStore): .trustStoreUnreadable
        case .proxy: .proxy
        case .fenced: .fenced
        case .tooManyCalls, .stopped: .stopped
        }
    }
}
