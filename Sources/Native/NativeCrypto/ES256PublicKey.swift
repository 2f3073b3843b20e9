// SPDX-License-Identifier: Apache-2.0
internal import COpenSSL

/// A point on P-256 that verifies ES256 signatures (RFC 7518, sections 3.4 and 6.2.1).
package struct ES256PublicKey: Sendable, Equatable {
    package static let coordinateLength = 32

    /// 32 bytes each, big-endian.
    package let x: [UInt8]
    package let y: [UInt8]

    /// - Returns: nil for coordinates of another length, and for a point that is not on the curve.
    package init?(x: [UInt8], y: [UInt8]) {
        guard x.count == Self.coordinateLength, y.count == Self.coordinateLength else { return nil }
        guard let key = unsafe Self.loaded(x, y) else {
            ERR_clear_error()
            return nil
        }
        unsafe EVP_PKEY_free(key)
        self.x = x
        self.y = y
    }

    /// The public part of a key of OpenSSL's; nil where it is not on P-256.
    init?(ofKey key: OpaquePointer) {
        var name = [CChar](repeating: 0, count: 32)
        var length = 0
        guard unsafe EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1,
            name.prefix(length).elementsEqual("prime256v1".utf8.map(CChar.init(bitPattern:))),
            let x = unsafe Self.coordinate("qx", of: key), let y = unsafe Self.coordinate("qy", of: key)
        else { return nil }
        self.x = x
        self.y = y
    }

    private static func coordinate(_ name: StaticString, of key: OpaquePointer) -> [UInt8]? {
        var number: OpaquePointer?
        let isThere = unsafe name.utf8Start.withMemoryRebound(to: CChar.self, capacity: name.utf8CodeUnitCount + 1) {
            unsafe EVP_PKEY_get_bn_param(key, $0, &number) == 1
        }
        guard isThere, let number = unsafe number else { return nil }
        defer { unsafe BN_free(number) }
        return unsafe ES256Signature.bytes(of: number)
    }

    /// Whether that is this key's signature (r ‖ s, 64 bytes) over the message.
    package func isSignature(_ signature: [UInt8], over message: [UInt8]) -> Bool {
        guard let der = ES256Signature.der(fromFixed: signature), let key = unsafe Self.loaded(x, y) else {
            return false
        }
        defer { unsafe EVP_PKEY_free(key) }
        let context = unsafe check(EVP_MD_CTX_new(), "EVP_MD_CTX_new")
        defer { unsafe EVP_MD_CTX_free(context) }
        check(unsafe EVP_DigestVerifyInit_ex(context, nil, "SHA256", nil, nil, key, nil), "EVP_DigestVerifyInit_ex")
        let verdict = unsafe EVP_DigestVerify(context, der, der.count, message, message.count)
        if verdict != 1 { ERR_clear_error() }
        return verdict == 1
    }

    /// OpenSSL's form of the point; nil where it is none of the curve. The caller frees it.
    ///
    /// `OSSL_PARAM` keeps the pointers that it is given: static names, and values that live until the call is done.
    private static func loaded(_ x: [UInt8], _ y: [UInt8]) -> OpaquePointer? {
        let context = unsafe check(EVP_PKEY_CTX_new_from_name(nil, "EC", nil), "EVP_PKEY_CTX_new_from_name")
        defer { unsafe EVP_PKEY_CTX_free(context) }
        check(unsafe EVP_PKEY_fromdata_init(context), "EVP_PKEY_fromdata_init")
        let (groupName, pointName): (StaticString, StaticString) = ("group", "pub")
        var group = Array("P-256".utf8CString)
        var point: [UInt8] = [0x04] + x + y
        // EVP_PKEY_PUBLIC_KEY, which Swift does not see.
        let selection =
            OSSL_KEYMGMT_SELECT_DOMAIN_PARAMETERS | OSSL_KEYMGMT_SELECT_OTHER_PARAMETERS
            | OSSL_KEYMGMT_SELECT_PUBLIC_KEY
        var key: OpaquePointer?
        unsafe group.withUnsafeMutableBufferPointer { group in
            unsafe point.withUnsafeMutableBufferPointer { point in
                var parameters = unsafe [
                    groupName.utf8Start.withMemoryRebound(to: CChar.self, capacity: 6) {
                        unsafe OSSL_PARAM_construct_utf8_string($0, group.baseAddress, 0)
                    },
                    pointName.utf8Start.withMemoryRebound(to: CChar.self, capacity: 4) {
                        unsafe OSSL_PARAM_construct_octet_string($0, point.baseAddress, point.count)
                    },
                    OSSL_PARAM_construct_end(),
                ]
                _ = unsafe EVP_PKEY_fromdata(context, &key, selection, &parameters)
            }
        }
        return unsafe key
    }
}
