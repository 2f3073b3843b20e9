// SPDX-License-Identifier: Apache-2.0
package import Consents
import NativeCurl

/// What one issuer tells of itself, discovered and kept.
package final class IssuerMetadata: Sendable {
    private let document: RemoteDocument<ProviderMetadata>

    /// - Parameters:
    ///   - issuer: the configured one; its metadata are looked for at both well-known places.
    ///   - rule: made with the same issuer.
    ///   - launcher: starts the fetch, on the loop of whoever asks.
    package init(
        issuer: String, rule: EndpointRule, source: any DocumentSource, limits: DocumentLimits, time: any Timekeeper,
        launcher: any TaskLauncher, tell: @escaping FetchTelling
    ) {
        document = RemoteDocument(limits: limits, time: time, launcher: launcher, tell: tell) {
            await Self.fetch(issuer, rule, source)
        }
    }

    /// The second place is asked where the first has nothing, or a page for people. What the first says in another's
    /// name is its word, and a failure that may pass is one of both.
    private static func fetch(
        _ issuer: String, _ rule: EndpointRule, _ source: any DocumentSource
    ) async -> RemoteDocument<ProviderMetadata>.Brought {
        var fault = DocumentFault.metadata(.noIssuer)
        for place in discoveryAddresses(of: issuer) {
            // On the configured host, which may be private.
            switch await source.get(ProviderURL(text: place, addresses: .any)) {
            case .document(let body, let lifetime):
                do throws(MetadataFault) {
                    return .value(try ProviderMetadata(document: body, of: issuer, rule), lifetime: lifetime)
                } catch {
                    fault = .metadata(error)
                }
            case .failed(let reason): fault = reason
            }
            if !fault.isOfNothing { return .failed(fault) }
        }
        return .failed(fault)
    }

    /// The metadata, which may be stale where newer ones cannot be had.
    package func current() async -> Result<ProviderMetadata, DocumentFault> {
        await document.document(.current).map(\.value)
    }

    /// Fetched now; what was held stays where that fails, and the fault is told.
    package func reload() async -> Result<ProviderMetadata, DocumentFault> {
        let outcome = await document.document(.forced).map(\.value)
        if let fault = document.lastFault { return .failure(fault) }
        return outcome
    }

    /// A place of the metadata.
    package func place(_ endpoint: ProviderMetadata.Endpoint) async -> Result<ProviderURL, DocumentFault> {
        await current().flatMap { metadata in
            metadata.endpoints[endpoint].map(Result.success)
                ?? .failure(.noPlace(endpoint, metadata.refused[endpoint]))
        }
    }

    /// Why the last fetch failed; nil after one that did not, and before the first.
    package var lastFault: DocumentFault? { document.lastFault }
}

extension DocumentFault {
    /// Whether there is nothing at that place, rather than something else or something that cannot be had now.
    fileprivate var isOfNothing: Bool {
        switch self {
        case .status(400...499), .metadata(.notJSON), .metadata(.noIssuer): true
        default: false
        }
    }
}
