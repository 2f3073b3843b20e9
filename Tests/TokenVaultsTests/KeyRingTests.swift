// SPDX-License-Identifier: Apache-2.0
import Consents
import Foundation
import NativeCrypto
import NativeSystem
import Testing
import TokenVaults

@Suite struct KeyRingTests {
    private let folder: String

    init() throws {
        folder = NSTemporaryDirectory() + "ring-" + UUID().uuidString
        try makeFolder(at: folder, permissions: 0o700)
    }

    private func parse(_ text: String) throws -> KeyRing { try KeyRing(parsing: Array(text.utf8)) }

    /// What a ring is refused with; its description never holds a key.
    private func failure(of text: String) -> KeyRingFailure? {
        do {
            _ = try KeyRing(parsing: Array(text.utf8))
            return nil
        } catch {
            for byte in 1...4 { #expect(!"\(error) \(String(reflecting: error))".contains(key(UInt8(byte)))) }
            return error
        }
    }

    @Test("a ring is read with its current and retired keys, unknown members skipped")
    func reading() throws {
        let ring = try parse(sampleRing)
        #expect(ring.currentID == "k2" && ring.keys.keys.sorted() == ["k1", "k2"])
        #expect(ring.keys["k1"]?.retiredAt == "2026-02-01T00:00:00Z" && ring.keys["k2"]?.retiredAt == nil)
        #expect(ring.ledgerKey.reveal() == [UInt8](repeating: 4, count: 32))
        #expect(!"\(ring)".contains(key(1)) && !"\(ring)".contains(", 1, 1"))
    }

    @Test("a ring that is not whole is refused with the member's name")
    func broken() {
        #expect(
            failure(of: sampleRing.replacing(key(1), with: key(1, count: 16)))
                == .wrongLength(member: "keys.k1.key", bytes: 16))
        #expect(
            failure(of: sampleRing.replacing(key(3), with: key(3, count: 31)))
                == .wrongLength(member: "index_key", bytes: 31))
        #expect(failure(of: sampleRing.replacing(key(4), with: "no base64!")) == .notBase64(member: "ledger_key"))
        #expect(failure(of: sampleRing.replacing("ledger_key", with: "ledger")) == .missingMember("ledger_key"))
        #expect(failure(of: sampleRing.replacing("\"keys\"", with: "\"key\"")) == .missingMember("keys"))
        #expect(failure(of: sampleRing.replacing("\"version\": 1", with: "\"version\": 2")) == .unknownVersion)
        #expect(
            failure(of: sampleRing.replacing("\"current\": \"k2\"", with: "\"current\": \"k3\""))
                == .currentKeyMissing)
        #expect(
            failure(of: sampleRing.replacing("\"current\": \"k2\"", with: "\"current\": \"k1\""))
                == .currentKeyRetired)
        #expect(failure(of: sampleRing.replacing(key(3), with: key(4))) == .keyWithTwoPurposes)
        #expect(failure(of: sampleRing.replacing("\"k1\"", with: "\"consent\"")) == .badKeyID)
        #expect(failure(of: sampleRing.replacing("\"k1\"", with: "\"k 1\"")) == .badKeyID)
        guard case .notJSON = failure(of: String(sampleRing.dropLast())) else {
            Issue.record("half a ring was taken")
            return
        }
    }

    @Test("a short key's refusal says which member, how long, and what to do")
    func sentence() {
        let failure = failure(of: sampleRing.replacing(key(1), with: key(1, count: 16)))
        #expect(
            failure?.description == "`keys.k1.key` in the vault's key ring has 16 bytes, it must have 32: take it from "
                + "a copy of the ring")
    }

    @Test("a new ring is written once, mode 0600, into a folder of mode 0700, and reads back")
    func creating() throws {
        let path = folder + "/new/deep/vault-keys.json"
        let ring = try KeyRing.create(at: path, now: Instant(milliseconds: 1_767_323_045_678))
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let above = try FileManager.default.attributesOfItem(atPath: folder + "/new/deep")
        #expect(above[.posixPermissions] as? Int == 0o700)
        let read = try KeyRing.read(at: path)
        #expect(read.currentID == ring.currentID && ring.currentID.hasPrefix("k20260102-"))
        #expect(read.keys[read.currentID]?.material.reveal() == ring.keys[ring.currentID]?.material.reveal())
        #expect(read.indexKey.reveal() == ring.indexKey.reveal() && read.ledgerKey.reveal() == ring.ledgerKey.reveal())
        #expect(throws: KeyRingFailure.notWritten(.exists)) {
            try KeyRing.create(at: path, now: Instant(milliseconds: 0))
        }
        #expect(try KeyRing.read(at: path).currentID == ring.currentID)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/new/deep") == ["vault-keys.json"])
    }

    @Test("a ring that others may read is refused", arguments: [0o640, 0o604, 0o660, 0o700, 0o644, 0o602])
    func exposed(mode: Int) throws {
        let path = folder + "/ring.json"
        _ = try KeyRing.create(at: path, now: Instant(milliseconds: 0))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        let expected = KeyRingFailure.file(.exposed(permissions: UInt32(mode)))
        #expect(throws: expected) { try KeyRing.read(at: path) }
        #expect(expected.description.contains("chmod 600"))
    }

    @Test("a ring that may only be read is fine; a link, a folder and nothing are not")
    func otherFiles() throws {
        let path = folder + "/ring.json"
        _ = try KeyRing.create(at: path, now: Instant(milliseconds: 0))
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: path)
        #expect(throws: Never.self) { try KeyRing.read(at: path) }
        try FileManager.default.createSymbolicLink(atPath: folder + "/link.json", withDestinationPath: path)
        #expect(throws: KeyRingFailure.file(.symbolicLink)) { try KeyRing.read(at: folder + "/link.json") }
        #expect(throws: KeyRingFailure.notWritten(.exists)) {
            try KeyRing.create(at: folder + "/link.json", now: Instant(milliseconds: 0))
        }
        #expect(throws: KeyRingFailure.file(.unread(.notRegular))) { try KeyRing.read(at: folder) }
        #expect(throws: KeyRingFailure.file(.unread(.notFound))) { try KeyRing.read(at: folder + "/none.json") }
    }
}
