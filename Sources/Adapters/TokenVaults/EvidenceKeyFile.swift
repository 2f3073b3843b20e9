// SPDX-License-Identifier: Apache-2.0
internal import NativeCrypto
internal import NativeJSON

/// The evidence keys as the ring's file has them: `"evidence":{"current":ID,"keys":{ID:{"key":BASE64,
/// "created_at":TIME,"retired_at":TIME?}}}`, where `key` is an `ECPrivateKey` (RFC 5915) in DER. A retired key may
/// have `"public"` in its place: x ‖ y, 64 bytes.
extension EvidenceKeyRing {
    /// - Throws: ``KeyRingFailure`` with the member's name.
    init(_ member: JSONValue?) throws(KeyRingFailure) {
        guard let member, let current = member["current"]?.string, let keys = member["keys"], keys.kind == .object
        else { throw .noEvidenceKey }
        var read: [String: Key] = [:]
        for (id, key) in keys.members {
            guard KeyRing.isKeyID(id) else { throw .badKeyID }
            read[id] = try Self.key(key, "evidence.keys.\(id)")
        }
        try self.init(currentID: current, keys: read)
    }

    private static func key(_ member: JSONValue, _ name: String) throws(KeyRingFailure) -> Key {
        guard let createdAt = member["created_at"]?.string else { throw .missingMember("\(name).created_at") }
        let retiredAt = member["retired_at"]?.string
        if member["key"] == nil, retiredAt != nil {
            let point = try bytes(member["public"], "\(name).public")
            let half = ES256PublicKey.coordinateLength
            guard let key = ES256PublicKey(x: Array(point.prefix(half)), y: Array(point.dropFirst(half))) else {
                throw .notP256(member: "\(name).public")
            }
            return Key(publicKey: key, privateKey: nil, createdAt: createdAt, retiredAt: retiredAt)
        }
        var der = try bytes(member["key"], "\(name).key")
        defer { wipe(&der) }
        guard let key = ES256PrivateKey(der: der) else { throw .notP256(member: "\(name).key") }
        return Key(publicKey: key.publicKey, privateKey: key, createdAt: createdAt, retiredAt: retiredAt)
    }

    private static func bytes(_ member: JSONValue?, _ name: String) throws(KeyRingFailure) -> [UInt8] {
        guard let text = member?.string else { throw .missingMember(name) }
        guard let bytes = Base64.standard.bytes(of: text) else { throw .notBase64(member: name) }
        return bytes
    }

    var json: JSONValue {
        var members = JSONValue.object()
        for (id, key) in keys.sorted(by: { $0.key < $1.key }) {
            var member = JSONValue.object()
            if let privateKey = key.privateKey {
                var der = privateKey.serialized()
                member.set("key", Base64.standard.text(of: der))
                wipe(&der)
            } else {
                member.set("public", Base64.standard.text(of: key.publicKey.x + key.publicKey.y))
            }
            member.set("created_at", key.createdAt)
            if let retiredAt = key.retiredAt { member.set("retired_at", retiredAt) }
            members.set(id, member)
        }
        return ["current": JSONValue(currentID), "keys": members]
    }
}
