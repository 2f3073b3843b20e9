// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import ConsentStores
import Consents
import NativeSystem
import Settings
import TokenVaults

/// `keys init`: needs the configuration for two paths only, so its secrets are not read.
enum RingMaking {
    static func run(_ asked: Invocation, _ environment: [String: String], isForced: Bool) -> CommandOutput {
        let loaded: LoadedSettings
        do throws(SettingsErrors) {
            loaded = try SettingsLoader.load(
                path: asked.configPath, environment: environment, options: .withoutSecrets)
        } catch {
            return StartFailure(error).output
        }
        guard case .file(let path) = loaded.settings.vault.keys else {
            return .failure("vault.keys is no file: make the ring where it is kept", status: .configuration)
        }
        do {
            if try FileIdentity.ofFile(at: path) != nil { return KeyOutput.ringExists(path: path) }
            if !isForced, let obstacle = obstacle(in: loaded.settings, ring: path) { return obstacle }
            _ = try KeyRing.create(at: path, now: Instant(milliseconds: wallClockMilliseconds()))
            return KeyOutput.ringMade(path: path, json: asked.json)
        } catch KeyRingFailure.notWritten(.exists) {
            return KeyOutput.ringExists(path: path)
        } catch {
            return .failure("vault.keys: \(path): \(error)", status: .storeOrKeys)
        }
    }

    /// Why no new ring belongs beside the store; nil where there is no store yet, or nothing in it needs a ring.
    private static func obstacle(in settings: GatewaySettings, ring: String) -> CommandOutput? {
        let location: StoreLocation
        do throws(StartFailure) { location = try Gateway.location(settings) } catch { return error.output }
        let store = location.shown
        let subject = "vault.keys: \(ring) is not there"
        do throws(StoreFailure) {
            let content = try SQLStore.contentUnderRing(in: location)
            guard let content else { return nil }
            return .failure(
                "\(subject), but the store \(store) has \(content) made with it, which a new ring could never open: "
                    + "put the ring back from its copy, or say --force", status: .storeOrKeys)
        } catch {
            return .failure(
                "\(subject), and whether the store \(store) was sealed with it cannot be read: \(error); put the ring "
                    + "back from its copy, or say --force", status: .storeOrKeys)
        }
    }
}
