// SPDX-License-Identifier: Apache-2.0
internal import CCurl
internal import NativeSystem

/// A client's certificate with its chain, and its private key, both in PEM: what is shown to a server that asks for one
/// (RFC 8705, section 2). A renewed pair can take their place while calls go on.
package final class CurlClientIdentity: Sendable, CustomStringConvertible, CustomReflectable {
    struct Pair: Sendable {
        let certificate: [UInt8]
        let privateKey: [UInt8]
        /// Counts up from 1.
        let version: Int
    }

    private let pair: Locked<Pair>

    /// Whoever makes one has seen that the two belong together and that no passphrase is needed.
    package init(certificate: [UInt8], privateKey: [UInt8]) {
        pair = Locked(Pair(certificate: certificate, privateKey: privateKey, version: 1))
    }

    package func take(certificate: [UInt8], privateKey: [UInt8]) {
        pair.withLock { pair in
            guard pair.certificate != certificate || pair.privateKey != privateKey else { return }
            pair = Pair(certificate: certificate, privateKey: privateKey, version: pair.version + 1)
        }
    }

    var current: Pair { pair.withLock { $0 } }

    package var description: String { "a client's certificate and its key" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// libcurl's sentence on a call that failed, of which only a server's refusal of our certificate is looked for: no code
/// tells it from a connection that broke.
@safe final class TLSComplaint {
    private let text: UnsafeMutableBufferPointer<CChar>

    init(of easy: UnsafeMutableRawPointer) {
        unsafe text = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe text.initialize(repeating: 0)
        _ = unsafe ccurl_set_pointer(easy, CURLOPT_ERRORBUFFER, text.baseAddress)
    }

    /// After the handle's own end.
    deinit { unsafe text.deallocate() }

    func forget() { unsafe text.update(repeating: 0) }

    /// Whether the server has sent one of TLS's alerts about a client's certificate (RFC 8446, section 6.2), in
    /// OpenSSL's words.
    var isOfCertificate: Bool {
        let words = unsafe String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return words.contains(" alert ")
            && ["certificate", "unknown ca", "access denied"].contains { words.contains($0) }
    }
}
