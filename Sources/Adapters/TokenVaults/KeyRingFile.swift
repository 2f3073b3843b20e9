// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeCrypto
internal import NativeJSON
internal import NativeSystem

/// The ring as it is written: `{"version":1,"current":ID,"keys":{ID:{"key":BASE64,"created_at":TIME,
/// "retired_at":TIME?}},"index_key":BASE64,"ledger_key":BASE64,"evidence":{…}}`. Members that are not known are
/// skipped.
extension KeyRing {
    /// Far more than a ring with many retired keys needs.
    private static let longestFile = 256 * 1024

    /// The ring in a file that nobody but us may read (mode 0600 or 0400, ours, no link).
    /// - Throws: ``KeyRingFailure``.
    package static func read(at path: String) throws(KeyRingFailure) -> KeyRing {
        var bytes: [UInt8]
        do throws(PrivateFileFailure) {
            bytes = try readPrivateFile(at: path, limit: longestFile)
        } catch {
            throw .file(error)
        }
        defer { wipe(&bytes) }
        return try KeyRing(parsing: bytes)
    }

    /// Makes a ring and writes it where there is nothing yet, mode 0600; a missing folder is made, mode 0700.
    /// - Throws: ``KeyRingFailure``; a ring that is there is never overwritten.
    package static func create(at path: String, now: Instant) throws(KeyRingFailure) -> KeyRing {
        let ring = try generate(at: now)
        var bytes = ring.serialized()
        defer { wipe(&bytes) }
        do throws(FileWritingFailure) {
            try makeFolder(at: folder(of: path), permissions: 0o700)
            try createFile(bytes, at: path, permissions: 0o600)
        } catch {
            throw .notWritten(error)
        }
        return ring
    }

    /// The ring that a file, a variable or a command's output holds.
    /// - Throws: ``KeyRingFailure``.
    package init(parsing bytes: [UInt8]) throws(KeyRingFailure) {
        let ring: JSONValue
        do throws(JSONError) {
            ring = try JSONValue.parse(bytes, as: .callers)
        } catch {
            throw .notJSON(error)
        }
        guard ring["version"]?.integer == 1 else { throw .unknownVersion }
        guard let current = ring["current"]?.string else { throw .missingMember("current") }
        guard let members = ring["keys"], members.kind == .object else { throw .missingMember("keys") }
        var keys: [String: SealingKey] = [:]
        for (id, member) in members.members {
            guard KeyRing.isKeyID(id) else { throw .badKeyID }
            guard let createdAt = member["created_at"]?.string else { throw .missingMember("keys.\(id).created_at") }
            let material = try KeyRing.key(member["key"], "keys.\(id).key")
            keys[id] = SealingKey(material: material, createdAt: createdAt, retiredAt: member["retired_at"]?.string)
        }
        try self.init(
            currentID: current, keys: keys, indexKey: KeyRing.key(ring["index_key"], "index_key"),
            ledgerKey: KeyRing.key(ring["ledger_key"], "ledger_key"), evidence: EvidenceKeyRing(ring["evidence"]))
    }

    /// The bytes of the file. Whoever gets them wipes them.
    package func serialized() -> [UInt8] {
        var members = JSONValue.object()
        for (id, key) in keys.sorted(by: { $0.key < $1.key }) {
            var member: JSONValue = ["key": KeyRing.text(key.material), "created_at": JSONValue(key.createdAt)]
            if let retiredAt = key.retiredAt { member.set("retired_at", retiredAt) }
            members.set(id, member)
        }
        let ring: JSONValue = [
            "version": 1, "current": JSONValue(currentID), "keys": members, "index_key": KeyRing.text(indexKey),
            "ledger_key": KeyRing.text(ledgerKey), "evidence": evidence.json,
        ]
        return ring.serialized(.indented) + [0x0A]
    }

    private static func key(_ member: JSONValue?, _ name: String) throws(KeyRingFailure) -> SecretBytes {
        guard let text = member?.string else { throw .missingMember(name) }
        guard var bytes = Base64.standard.bytes(of: text) else { throw .notBase64(member: name) }
        defer { wipe(&bytes) }
        guard bytes.count == keyLength else { throw .wrongLength(member: name, bytes: bytes.count) }
        return SecretBytes(bytes)
    }

    private static func text(_ key: SecretBytes) -> JSONValue { JSONValue(Base64.standard.text(of: key.reveal())) }
}
