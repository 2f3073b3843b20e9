// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import NativeSystem
import TestSupport
import Testing
import TokenVaults

@testable import GatewayAssembly

@Suite("Which ring a store was sealed with")
struct RingTests {
    @Test("its own ring is taken, with further keys too; another's, or one that lacks or changes a key, is not")
    func rings() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let path = gateway.folder + "/consents.db"
            let own = try KeyRing.read(at: gateway.folder + "/vault-keys.json")
            let other = try KeyRing.generate(at: Instant(milliseconds: 0))
            try RingCheck.hold(try RingVault(ring: other), against: .file(path))
            #expect(try await gateway.post(code: "c", subject: "u").status == 201)

            let both = own.keys.merging(other.keys) { first, _ in first }
            let longer = try KeyRing(
                currentID: other.currentID, keys: both, indexKey: own.indexKey, ledgerKey: own.ledgerKey,
                evidence: own.evidence)
            for ring in [own, longer] { try RingCheck.hold(try RingVault(ring: ring), against: .file(path)) }

            let otherKey = try #require(other.keys[other.currentID])
            let wrong = [
                other,
                try KeyRing(
                    currentID: other.currentID, keys: other.keys, indexKey: own.indexKey, ledgerKey: own.ledgerKey,
                    evidence: own.evidence),
                try KeyRing(
                    currentID: own.currentID, keys: [own.currentID: otherKey], indexKey: own.indexKey,
                    ledgerKey: own.ledgerKey,
                    evidence: own.evidence),
                try KeyRing(
                    currentID: own.currentID, keys: own.keys, indexKey: other.indexKey, ledgerKey: own.ledgerKey,
                    evidence: own.evidence),
                try KeyRing(
                    currentID: own.currentID, keys: own.keys, indexKey: own.indexKey, ledgerKey: other.ledgerKey,
                    evidence: own.evidence),
            ]
            for ring in wrong {
                let vault = try RingVault(ring: ring)
                #expect(throws: StartFailure.self) { try RingCheck.hold(vault, against: .file(path)) }
            }
        }
    }

    private func move(_ path: String, to other: String) throws {
        try createFile(try readFile(at: path, limit: 1 << 16).bytes, at: other, permissions: 0o600)
        try removeFile(at: path)
    }

    @Test("a new ring is not made beside a store that was sealed with another, unless somebody says so")
    func notBesideAFullStore() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        try await TestGateway.inFolder(provider: script.provider.url) { folder in
            let ring = folder + "/vault-keys.json"
            let command = ["keys", "init", "--config", folder + "/gateway.yaml"]
            // Without a store a ring is made: the one of the configuration's folder is moved away and made again.
            try move(ring, to: folder + "/vault-keys-first.json")
            #expect(await Program.run(arguments: command, environment: [:]) == 0)
            try await TestGateway.living(in: folder) { gateway in
                let made = try await gateway.post(code: "c", subject: "u")
                #expect(made.status == 201)
            }
            try move(ring, to: folder + "/vault-keys-kept.json")
            let before = try readFile(at: folder + "/consents.db", limit: 1 << 26).bytes
            #expect(await Program.run(arguments: command, environment: [:]) == 4)
            let refused = try FileIdentity.ofFile(at: ring)
            #expect(refused == nil)
            let after = try readFile(at: folder + "/consents.db", limit: 1 << 26).bytes
            #expect(after == before)
            #expect(await Program.run(arguments: command + ["--force"], environment: [:]) == 0)
            let forced = try FileIdentity.ofFile(at: ring)
            #expect(forced != nil)
        }
    }
}
