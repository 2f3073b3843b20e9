// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import NativeSystem
import Settings

/// The files that a provider's section names beside its secrets.
enum ProviderFiles {
    private static let largest = 4 << 20

    /// libcurl would meet a wrong file at the first call, and every call would fail.
    /// - Throws: `StartFailure` with status 3: `ca_file` cannot be read, or holds no certificate in PEM.
    static func check(_ provider: ProviderSettings) throws(StartFailure) {
        guard let path = provider.connection.caFile else { return }
        let key = "providers.\(provider.name).ca_file"
        let bytes: [UInt8]
        do {
            bytes = try readFile(at: path, limit: largest).bytes
        } catch {
            throw StartFailure("\(key): cannot read the file \(path): \(error.sentence)", .configuration)
        }
        guard String(decoding: bytes, as: UTF8.self).contains("-----BEGIN ") else {
            throw StartFailure("\(key): the file \(path) holds no certificate in PEM", .configuration)
        }
    }
}
