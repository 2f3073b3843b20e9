// SPDX-License-Identifier: Apache-2.0
internal import COpenSSL

/// The two forms of an ECDSA signature: `ECDSA-Sig-Value` in DER (RFC 3279, section 2.2.3), which OpenSSL speaks, and
/// r ‖ s of 32 bytes each (RFC 7518, section 3.4), which JOSE does.
enum ES256Signature {
    private static let half = ES256PublicKey.coordinateLength

    static func fixed(fromDER der: [UInt8]) -> [UInt8] {
        let read = unsafe der.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return unsafe d2i_ECDSA_SIG(nil, &start, bytes.count)
        }
        let value = unsafe check(read, "d2i_ECDSA_SIG")
        defer { unsafe ECDSA_SIG_free(value) }
        return unsafe bytes(of: ECDSA_SIG_get0_r(value)) + bytes(of: ECDSA_SIG_get0_s(value))
    }

    /// Nil for another length.
    static func der(fromFixed fixed: [UInt8]) -> [UInt8]? {
        guard fixed.count == 2 * half else { return nil }
        let value = unsafe check(ECDSA_SIG_new(), "ECDSA_SIG_new")
        defer { unsafe ECDSA_SIG_free(value) }
        let r = unsafe check(BN_bin2bn(Array(fixed.prefix(half)), Int32(half), nil), "BN_bin2bn")
        let s = unsafe check(BN_bin2bn(Array(fixed.suffix(half)), Int32(half), nil), "BN_bin2bn")
        check(unsafe ECDSA_SIG_set0(value, r, s), "ECDSA_SIG_set0")
        let length = unsafe i2d_ECDSA_SIG(value, nil)
        check(length > 0 ? 1 : 0, "i2d_ECDSA_SIG")
        return unsafe [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, filled in
            var end = buffer.baseAddress
            unsafe filled = Int(max(0, i2d_ECDSA_SIG(value, &end)))
        }
    }

    /// A number below 2^256 as 32 bytes, big-endian.
    static func bytes(of number: OpaquePointer) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: half) { buffer, filled in
            unsafe filled = Int(max(0, BN_bn2binpad(number, buffer.baseAddress, Int32(half))))
        }
    }
}
