// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import NativeHTTPServer
import NativeSystem
import Settings

/// The listener's certificate and key as they lie in their files now.
enum TLSFiles {
    /// More than any chain.
    private static let limit = 1 << 20

    /// - Throws: `StartFailure` with status 3: files that cannot be read or are open to others, and two that do not
    ///   belong together.
    static func identity(_ settings: TLSSettings) throws(StartFailure) -> TLSIdentity {
        let certificate: [UInt8]
        do throws(FileReadingFailure) {
            certificate = try readFile(at: settings.certificate, limit: limit).bytes
        } catch {
            throw failure("certificate", settings.certificate, error.sentence)
        }
        let key: [UInt8]
        do throws(PrivateFileFailure) {
            key = try readServerKey(at: settings.privateKey, limit: limit)
        } catch {
            throw failure("private_key", settings.privateKey, error.sentence)
        }
        do throws(HTTPServerError) {
            return try TLSIdentity(certificate: certificate, privateKey: key)
        } catch {
            throw StartFailure("server.tls: \(error)", .configuration)
        }
    }

    private static func failure(_ key: String, _ path: String, _ sentence: String) -> StartFailure {
        StartFailure("server.tls.\(key) \(path): \(sentence)", .configuration)
    }
}
