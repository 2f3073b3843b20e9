// SPDX-License-Identifier: Apache-2.0
internal import COpenSSL

/// Whether a certificate and a private key, both in PEM, can be shown together by a client.
///
/// - Throws: ``CertificateRefusal``. Nobody is ever asked for a passphrase.
package func checkPair(certificate: [UInt8], privateKey: [UInt8]) throws(CertificateRefusal) {
    defer { ERR_clear_error() }
    guard let found = unsafe read(certificate, { unsafe PEM_read_bio_X509($0, nil, noPassphrase, nil) }) else {
        throw .noCertificate
    }
    defer { unsafe X509_free(found) }
    guard let key = unsafe read(privateKey, { unsafe PEM_read_bio_PrivateKey($0, nil, noPassphrase, nil) }) else {
        throw .noKey
    }
    defer { unsafe EVP_PKEY_free(key) }
    guard unsafe X509_check_private_key(found, key) == 1 else { throw .mismatch }
}

private func read(_ pem: [UInt8], _ body: (OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
    guard !pem.isEmpty, pem.count <= 1 << 20 else { return nil }
    return unsafe pem.withUnsafeBytes { bytes in
        let source = unsafe check(BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)), "BIO_new_mem_buf")
        defer { unsafe BIO_free(source) }
        return unsafe body(source)
    }
}

/// Why a certificate and a key cannot be shown together. It never holds a byte of either.
package enum CertificateRefusal: String, Error, Sendable, CustomStringConvertible {
    case noCertificate = "the file holds no certificate in PEM"
    case noKey = "there is no private key in PEM, or one under a passphrase"
    case mismatch = "the certificate and the private key do not belong together"

    package var description: String { rawValue }
}
