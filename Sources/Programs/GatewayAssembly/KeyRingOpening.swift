// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Settings
import TokenVaults

extension KeyRing {
    /// The ring from where the configuration says it is: without it nothing starts.
    /// - Throws: `StartFailure` with status 4 that says what to do.
    static func open(_ source: SecretSource, environment: [String: String]) throws(StartFailure) -> KeyRing {
        do {
            if case .file(let path) = source { return try open(fileAt: path) }
            guard let secret = try source.read(environment: environment) else {
                throw StartFailure("vault.keys: name a file, a variable or a command", .storeOrKeys)
            }
            return try KeyRing(parsing: Array(secret.reveal().utf8))
        } catch let failure as StartFailure {
            throw failure
        } catch let failure as SecretFailure {
            throw StartFailure("vault.keys: \(failure.sentence)", .storeOrKeys)
        } catch {
            throw StartFailure("vault.keys: \(error)", .storeOrKeys)
        }
    }

    private static func open(fileAt path: String) throws(StartFailure) -> KeyRing {
        do { return try KeyRing.read(at: path) } catch {
            throw StartFailure("vault.keys: \(path): \(error)", .storeOrKeys)
        }
    }
}
