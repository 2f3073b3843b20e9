// SPDX-License-Identifier: Apache-2.0
package import NativeCurl
import NativeSystem

/// Which URLs of a provider's own telling are taken (contract, section 4).
package struct EndpointRule: Sendable {
    /// In lower case, without port.
    private let issuerHost: String
    /// Private hosts that may be pointed to, in lower case.
    private let allowedHosts: Set<String>

    /// - Returns: nil where the issuer is no URL that may be asked.
    package init?(issuer: String, allowedHosts: [String]) {
        guard let endpoint = CurlEndpoint(issuer), Self.isConfidential(endpoint) else { return nil }
        issuerHost = endpoint.host
        self.allowedHosts = Set(allowedHosts.map { $0.lowercased() })
    }

    /// The URL with the addresses that may be dialled for it.
    /// - Throws: ``EndpointFault``.
    package func check(_ url: String) throws(EndpointFault) -> ProviderURL {
        guard url.utf8.count <= 2048, !url.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7F }),
            !url.utf8.contains(UInt8(ascii: "#")), let endpoint = CurlEndpoint(url)
        else { throw .noURL }
        guard Self.isConfidential(endpoint) else { throw .plain }
        let address = IPAddress(endpoint.host)
        if let address, address.isLinkLocalOrMetadata { throw .address }
        if endpoint.host == issuerHost || allowedHosts.contains(endpoint.host) {
            return ProviderURL(text: url, addresses: .any)
        }
        if endpoint.host == "localhost" { throw .address }
        if let address, !address.isPublic { throw .address }
        return ProviderURL(text: url, addresses: .publicOnly)
    }

    /// https, or plain http to this machine itself.
    private static func isConfidential(_ endpoint: CurlEndpoint) -> Bool {
        !endpoint.isPlain || endpoint.host == "localhost" || IPAddress(endpoint.host)?.isLoopback == true
    }
}

/// A URL that may be asked.
package struct ProviderURL: Sendable {
    /// As it was told or configured, path untouched.
    package let text: String
    /// Link-local and metadata addresses are never dialled, whatever this says.
    package let addresses: AddressPolicy

    package init(text: String, addresses: AddressPolicy) {
        self.text = text
        self.addresses = addresses
    }
}

/// Why a URL of a provider's telling is not taken.
package enum EndpointFault: String, Error, Sendable, CustomStringConvertible {
    case noURL = "it is no URL, or has a user name, a fragment or characters that do not belong there"
    case plain = "it is not https"
    case address = "it leads to a private address, and its host is neither the issuer's nor in allow_hosts"

    package var description: String { rawValue }
}
