// SPDX-License-Identifier: Apache-2.0
import CMicrohttpd

/// A certificate with its chain, and its private key, both in PEM as they lie in their files.
package struct TLSIdentity: Sendable, CustomStringConvertible, CustomReflectable {
    /// With the zero at the end that the library wants.
    private let certificate: [UInt8]
    private let privateKey: [UInt8]

    /// - Throws: `HTTPServerError.identity` where either cannot be read, or they do not belong together.
    package init(certificate: [UInt8], privateKey: [UInt8]) throws(HTTPServerError) {
        guard !certificate.contains(0), !privateKey.contains(0) else { throw .identity }
        self.certificate = certificate + [0]
        self.privateKey = privateKey + [0]
        guard isUsable else { throw .identity }
    }

    /// Never the key.
    package var description: String { "a certificate and its key" }
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// TLS 1.2 and 1.3 with forward secrecy and authenticated ciphers, the server's order first (RFC 9325, section 4).
    static let priorities =
        "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA"
        + ":-CIPHER-ALL:+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM:%SERVER_PRECEDENCE"

    /// What the library is started with; the pointers are valid while `body` runs.
    func withOptions<Value>(_ body: ([MHD_OptionItem]) -> Value) -> Value {
        var (certificate, privateKey) = (certificate, privateKey)
        var priorities = Array(TLSIdentity.priorities.utf8) + [0]
        return unsafe certificate.withUnsafeMutableBytes { certificate in
            unsafe privateKey.withUnsafeMutableBytes { privateKey in
                unsafe priorities.withUnsafeMutableBytes { priorities in
                    let options = unsafe [
                        MHD_OptionItem(option: .HTTPS_MEM_CERT, value: 0, ptr_value: certificate.baseAddress),
                        MHD_OptionItem(option: .HTTPS_MEM_KEY, value: 0, ptr_value: privateKey.baseAddress),
                        MHD_OptionItem(option: .HTTPS_PRIORITIES, value: 0, ptr_value: priorities.baseAddress),
                    ]
                    return unsafe body(options)
                }
            }
        }
    }

    /// Whether the library takes them, which a daemon that listens nowhere tells.
    private var isUsable: Bool {
        unsafe withOptions { options in
            let all = unsafe options + [MHD_OptionItem(option: .END, value: 0, ptr_value: nil)]
            return unsafe cmicrohttpd_takes_identity(all) == 1
        }
    }
}
