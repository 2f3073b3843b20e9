// SPDX-License-Identifier: Apache-2.0
package import Consents

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
    case notSent(NotSentReason)
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
