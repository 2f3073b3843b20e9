// SPDX-License-Identifier: Apache-2.0
import Glibc
import NativeCurl
import NativeEventLoop
import NativeHTTPServer
import NativeSystem
import TestSupport
import Testing

/// Two certificates for `localhost`, `a` and `b`, each with a key of its own, in a folder that is gone with its test.
struct Certificates: Sendable {
    let folder: String

    static func use<Value>(_ body: (Certificates) async throws -> Value) async throws -> Value {
        let made = Certificates(folder: try makeTemporaryFolder(prefix: "tls-", in: "/tmp"))
        defer { removeFolder(at: made.folder) }
        for name in ["a", "b"] { try made.make(name) }
        try made.write(try made.bytes("a").certificate + made.bytes("b").certificate, to: made.bundle)
        return try await body(made)
    }

    /// Both certificates in one file.
    var bundle: String { folder + "/both.pem" }

    func certificate(_ name: String) -> String { "\(folder)/\(name).pem" }
    func key(_ name: String) -> String { "\(folder)/\(name).key" }

    func bytes(_ name: String) throws -> (certificate: [UInt8], key: [UInt8]) {
        (
            try readFile(at: certificate(name), limit: 1 << 16).bytes,
            try readFile(at: key(name), limit: 1 << 16).bytes
        )
    }

    func identity(_ name: String) throws -> TLSIdentity {
        let files = try bytes(name)
        return try TLSIdentity(certificate: files.certificate, privateKey: files.key)
    }

    private func make(_ name: String) throws {
        let maker = try ChildProcess([
            "/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-keyout", key(name), "-out", certificate(name), "-days", "2", "-subj", "/CN=\(name)",
            "-addext", "subjectAltName=DNS:localhost",
        ])
        #expect(maker.wait() == 0)
    }

    private func write(_ bytes: [UInt8], to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(descriptor) }
        #expect(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
    }
}

/// A client that trusts one file, on a loop of its own.
func withClient<Value: Sendable>(
    trusting file: String, _ body: @Sendable (CurlClient) async throws -> Value
) async throws -> Value {
    let loop = try EventLoop.start(name: "tls-client")
    defer { loop.stop() }
    let client = try CurlClient(loop: loop, configuration: CurlConfiguration(caFile: file))
    do {
        let value = try await body(client)
        await client.stop()
        return value
    } catch {
        await client.stop()
        throw error
    }
}

func get(_ url: String) -> CurlRequest {
    CurlRequest(
        method: .get, url: url, headers: [], connectTimeout: .seconds(10), timeout: .seconds(20), spends: false)
}

func post(_ url: String, _ size: Int) -> CurlRequest {
    CurlRequest(
        method: .postForm([UInt8](repeating: 0x78, count: size)), url: url, headers: [], connectTimeout: .seconds(10),
        timeout: .seconds(20), spends: false)
}

struct NotAnswered: Error {
    let result: CurlResult
}

func text(_ result: CurlResult) throws -> String {
    guard case .answered(let answer) = result else { throw NotAnswered(result: result) }
    return String(decoding: answer.body, as: UTF8.self)
}

/// Bytes over TLS, through `openssl s_client`; killed with the object.
final class TLSPeer {
    private let process: ChildProcess
    private let folder: String
    private let input: Int32

    init(port: UInt16, trusting file: String) throws {
        folder = try makeTemporaryFolder(prefix: "tls-peer-", in: "/tmp")
        let pipe = folder + "/in"
        guard mkfifo(pipe, 0o600) == 0 else { throw SystemCallError.last("mkfifo") }
        process = try ChildProcess([
            "/bin/sh", "-c",
            "exec /usr/bin/openssl s_client -quiet -connect 127.0.0.1:\(port) -CAfile '\(file)' < '\(pipe)'",
        ])
        input = open(pipe, O_WRONLY)
    }

    deinit {
        close(input)
        removeFolder(at: folder)
    }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        #expect(Glibc.write(input, bytes, bytes.count) == bytes.count)
    }

    /// Everything until the server ends the connection.
    func readToEnd() -> String {
        var all: [UInt8] = []
        while true {
            let part = process.read()
            if part.isEmpty { return String(decoding: all, as: UTF8.self) }
            all += part
        }
    }
}
