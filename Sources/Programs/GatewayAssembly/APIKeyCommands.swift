// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import ConsentStores
import Consents
import NativeSystem
import Settings

/// `keys api …`: callers' keys in the store, and those of the configuration.
struct APIKeyCommands: Sendable {
    let place: Workplace
    let gateway: Gateway
    let json: Bool

    /// The key goes to its file before the store knows it, so that none is lost.
    func create(_ request: NewAPIKey) async -> CommandOutput {
        let made = APIKey.make(
            name: request.name, scopes: Set(request.scopes), lifetime: request.lifetime, now: place.time.now)
        do {
            if let path = request.outputPath {
                try createFile(KeyOutput.file(of: made.text), at: path, permissions: 0o600)
            }
            try await gateway.store.createAPIKey(made.key)
            return KeyOutput.apiKeyMade(request, key: made.text, expiresAt: made.key.expiresAt, json: json)
        } catch StoreFailure.nameTaken {
            // No key of that text will ever be one.
            if let path = request.outputPath { try? removeFile(at: path) }
            return KeyOutput.nameTaken(request.name)
        } catch let failure as FileWritingFailure {
            return .failure("\(request.outputPath ?? ""): \(failure.sentence)", status: .partlyDone)
        } catch {
            return .failure("\(error)", status: .storeOrKeys)
        }
    }

    func list() async -> CommandOutput {
        let now = place.time.now
        do throws(StoreFailure) {
            let stored = try await gateway.store.apiKeys().map { ListedAPIKey($0, at: now, source: .store) }
            let configured = place.settings.auth.apiKeys.map {
                ListedAPIKey(APIKey($0, now: now), at: now, source: .configuration)
            }
            let sorted = stored.sorted { ($0.key.createdAt, $0.key.name) < ($1.key.createdAt, $1.key.name) }
            return KeyListOutput.apiKeys(sorted + configured, json: json)
        } catch {
            return .failure("\(error)", status: .storeOrKeys)
        }
    }

    func revoke(_ name: String) async -> CommandOutput {
        do throws(StoreFailure) {
            let isRevoked = try await gateway.store.revokeAPIKey(named: name, at: place.time.now)
            return isRevoked ? KeyListOutput.revoked(name, json: json) : KeyListOutput.notRevoked(name)
        } catch {
            return .failure("\(error)", status: .storeOrKeys)
        }
    }
}
