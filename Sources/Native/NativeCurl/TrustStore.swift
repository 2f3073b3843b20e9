// SPDX-License-Identifier: Apache-2.0
internal import CCurl

/// Which certificates are trusted: the system's, and a file's beside them.
///
/// The system's bundle alone is parsed once a client (libcurl caches it only where `CAPATH` is off); with a file beside
/// it, the system's come from its hashed folder, of which a handshake reads what it needs. CPU of a handshake:
///
///     libcurl's defaults (bundle and folder)   35 ms each
///     bundle without folder                    38 ms the first, 1.3 ms the others
///     a file, and the folder                    2 ms each
struct TrustStore {
    private let file: String?
    private let folder: String?

    /// - Throws: `local` where a file is wanted and this libcurl names no folder of the system's certificates.
    /// - Parameter systemFolder: nil for the one that libcurl names.
    init(adding file: String?, systemFolder: String? = nil) throws(NotSentReason) {
        // The seventh kind of answer was the first that names both.
        guard let version = unsafe curl_version_info(CURLVERSION_SEVENTH) else {
            throw .local(CURLE_FAILED_INIT.rawValue)
        }
        let bundle = unsafe version.pointee.cainfo.map { unsafe String(cString: $0) }
        let folder = unsafe systemFolder ?? version.pointee.capath.map { unsafe String(cString: $0) }
        if file != nil, folder == nil { throw .local(CURLE_SSL_CACERT_BADFILE.rawValue) }
        self.file = file ?? bundle
        self.folder = file != nil || bundle == nil ? folder : nil
    }

    func apply(to handle: EasyHandle) throws(NotSentReason) {
        try handle.set(CURLOPT_CAINFO, file)
        try handle.set(CURLOPT_CAPATH, folder)
    }
}
