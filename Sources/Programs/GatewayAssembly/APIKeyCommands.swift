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
    /// Writes to the standard output; false where it takes nothing.
    let write: @Sendable (String) -> Bool

    /// The key goes to its file before the store knows it, so that none is lost; one that is printed and reaches nobody
    /// is removed again.
    func create(_ request: NewAPIKey) async -> CommandOutput {
        if let place = configured(request.name)?.place { return KeyOutput.nameConfigured(request.name, at: place) }
        let made = APIKey.make(
            name: request.name, scopes: Set(request.scopes), lifetime: request.lifetime, now: place.time.now)
        do {
            // A reader that has gone must not end the process between the key and its removal.
            try ignoreBrokenPipes()
            if let path = request.outputPath {
                try createFile(KeyOutput.file(of: made.text), at: path, permissions: 0o600)
            }
            try await gateway.store.createAPIKey(made.key)
            let output = KeyOutput.apiKeyMade(request, key: made.text, expiresAt: made.key.expiresAt, json: json)
            return write(output.text) ? CommandOutput() : await notPrinted(request, made.key)
        } catch StoreFailure.nameTaken {
            // No key of that text will ever be one.
            if let path = request.outputPath { try? removeFile(at: path) }
            return await taken(request.name)
        } catch let failure as FileWritingFailure {
            return .failure("\(request.outputPath ?? ""): \(failure.sentence)", status: .partlyDone)
        } catch let failure as StoreFailure {
            return gateway.output(of: failure)
        } catch {
            return .failure("\(error)", status: .storeOrKeys)
        }
    }

    /// A name is one key's for ever.
    private func taken(_ name: String) async -> CommandOutput {
        guard let key = try? await stored(name), let revokedAt = key.revokedAt else { return KeyOutput.nameTaken(name) }
        return KeyOutput.nameRevoked(name, at: revokedAt)
    }

    /// The store's key of that name, revoked or not.
    private func stored(_ name: String) async throws(StoreFailure) -> APIKey? {
        try await gateway.store.apiKeys().first { $0.name == name }
    }

    private func notPrinted(_ request: NewAPIKey, _ key: APIKey) async -> CommandOutput {
        if let path = request.outputPath { return KeyOutput.unprinted(request.name, isIn: path) }
        do throws(StoreFailure) {
            try await gateway.store.discardAPIKey(key)
            return KeyOutput.unprintedAndRemoved(request.name)
        } catch {
            return .failure(
                "the key '\(request.name)' could not be printed, nor removed again (\(error)): revoke it",
                status: .partlyDone)
        }
    }

    /// The key of that name in `auth.api_keys`.
    private func configured(_ name: String) -> APIKeySettings? {
        place.settings.auth.apiKeys.first { $0.name == name }
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
            return gateway.output(of: error)
        }
    }

    func revoke(_ name: String) async -> CommandOutput {
        do throws(StoreFailure) {
            let isRevoked = try await gateway.store.revokeAPIKey(named: name, at: place.time.now)
            if let place = configured(name)?.place {
                return KeyListOutput.configured(name, at: place, isOtherRevoked: isRevoked)
            }
            if isRevoked { return KeyListOutput.revoked(name, json: json) }
            guard let at = try await stored(name)?.revokedAt else { return KeyListOutput.notThere(name) }
            return KeyListOutput.revokedBefore(name, at: at, json: json)
        } catch {
            return gateway.output(of: error)
        }
    }
}
