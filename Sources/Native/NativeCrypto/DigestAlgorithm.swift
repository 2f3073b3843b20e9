// SPDX-License-Identifier: Apache-2.0
internal import COpenSSL

/// The digests that signatures of JOSE are made over (RFC 7518, section 3.1; FIPS 180-4).
package enum DigestAlgorithm: String, Sendable {
    case sha256 = "SHA256"
    case sha384 = "SHA384"
    case sha512 = "SHA512"

    package var length: Int {
        switch self {
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    /// The digest of those bytes.
    package func digest(of bytes: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: length) { digest, filled in
            var size = 0
            check(
                unsafe EVP_Q_digest(nil, rawValue, nil, bytes, bytes.count, digest.baseAddress, &size),
                "EVP_Q_digest")
            filled = size
        }
    }
}

/// Forgets what this thread's last call of OpenSSL complained about, for libraries that call it beneath us: libcurl
/// asks the same queue after its own calls (ERR_clear_error(3)).
package func clearCryptoComplaints() { ERR_clear_error() }
