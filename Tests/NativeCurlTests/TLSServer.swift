// SPDX-License-Identifier: Apache-2.0
import Foundation

/// `openssl s_server` on a free loopback port with a certificate of its own for `localhost`; answers every GET.
final class TLSServer {
    let port: Int
    let certificate: String
    private let folder: URL
    private let process = Process()

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "curl-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        certificate = folder.appending(path: "cert.pem").path
        let key = folder.appending(path: "key.pem").path
        let maker = Process()
        try TLSServer.start(
            maker,
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key,
                "-out",
                certificate, "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
            ])
        maker.waitUntilExit()
        let output = try TLSServer.start(
            process, ["s_server", "-accept", "127.0.0.1:0", "-cert", certificate, "-key", key, "-www"])
        var text = ""
        while !text.contains(/ACCEPT .*:[0-9]+\n/) {
            let piece = output.availableData
            guard !piece.isEmpty else { throw CocoaError(.fileReadUnknown) }
            text += String(decoding: piece, as: UTF8.self)
        }
        port = text.firstMatch(of: /ACCEPT .*:([0-9]+)\n/).flatMap { Int($0.1) } ?? 0
    }

    func stop() {
        // SIGTERM would wait for ever: a child inherits the signal mask of a dispatch thread, which blocks it.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }

    @discardableResult
    private static func start(_ process: Process, _ arguments: [String]) throws -> FileHandle {
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        return output.fileHandleForReading
    }
}
