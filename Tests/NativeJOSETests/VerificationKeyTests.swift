// SPDX-License-Identifier: Apache-2.0
import NativeCrypto
import NativeJSON
import Testing

@testable import NativeJOSE

private func key(_ json: String) throws -> JSONWebKey {
    try JSONWebKey(JSONValue.parse(Array(json.utf8), as: .providers))
}

private func token(_ parts: [UInt8]...) throws -> CompactJWS {
    try CompactJWS(parts.map { Base64.urlSafe.text(of: $0) }.joined(separator: "."))
}

private func refusal(_ json: String) -> KeyRefusal? {
    do throws(KeyRefusal) {
        guard let value = try? JSONValue.parse(Array(json.utf8), as: .providers) else { return nil }
        _ = try JSONWebKey(value)
        return nil
    } catch { return error }
}

@Suite struct VerificationKeyTests {
    @Test(
        "each published and made token is verified by its key",
        arguments: Vectors.published + Vectors.made + [Vectors.newerName])
    func verified(_ vector: Vector) throws {
        let key = try key(vector.key)
        let token = try CompactJWS(vector.token)
        #expect(key.isMeant(for: vector.algorithm))
        #expect(key.key.verifies(token, as: vector.algorithm))
    }

    @Test("a key verifies nothing under another algorithm, and nothing of another key", arguments: Vectors.made)
    func others(_ vector: Vector) throws {
        let key = try key(vector.key)
        let token = try CompactJWS(vector.token)
        for other in JOSEAlgorithm.allCases where other != vector.algorithm {
            #expect(!key.key.verifies(token, as: other))
        }
        for other in Vectors.made where other.algorithm != vector.algorithm {
            #expect(!key.key.verifies(try CompactJWS(other.token), as: vector.algorithm))
            #expect(!key.key.verifies(try CompactJWS(other.token), as: other.algorithm) || key.key.kind.type == "RSA")
        }
    }

    @Test("one altered byte anywhere verifies nothing", arguments: Vectors.made)
    func altered(_ vector: Vector) throws {
        let key = try key(vector.key)
        let good = try CompactJWS(vector.token)
        let head = good.header.serialized(.compact)
        for index in good.signature.indices {
            var signature = good.signature
            signature[index] ^= 1 << (index % 8)
            #expect(!key.key.verifies(try token(head, good.payload, signature), as: vector.algorithm))
        }
        for index in good.payload.indices {
            var payload = good.payload
            payload[index] ^= 1
            #expect(!key.key.verifies(try token(head, payload, good.signature), as: vector.algorithm))
        }
    }

    @Test("a signature that is cut, lengthened, empty or all zeros verifies nothing", arguments: Vectors.made)
    func lengths(_ vector: Vector) throws {
        let key = try key(vector.key)
        let good = try CompactJWS(vector.token)
        let head = good.header.serialized(.compact)
        let half = good.signature.count / 2
        let wrong: [[UInt8]] = [
            [], [0], good.signature.dropLast(), Array(good.signature.prefix(half)), good.signature + [0],
            [0] + good.signature, Array(repeating: 0, count: good.signature.count),
            // The same two numbers, each with a zero before it.
            [0] + good.signature.prefix(half) + [0] + good.signature.suffix(half),
            Array(repeating: 0xFF, count: good.signature.count), Array(repeating: 0, count: 4096),
        ]
        for signature in wrong {
            #expect(!key.key.verifies(try token(head, good.payload, Array(signature)), as: vector.algorithm))
        }
    }

    @Test("a salt of another length than the digest's is no PS256")
    func salt() throws {
        let vector = try #require(Vectors.made.first { $0.algorithm == .ps256 })
        #expect(!(try key(vector.key).key.verifies(try CompactJWS(Vectors.longSalt), as: .ps256)))
    }

    @Test("the published thumbprints come out")
    func thumbprints() throws {
        #expect(
            try key(Vectors.published[3].key).key.thumbprint == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
        let modulus =
            "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCi"
            + "FV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnY"
            + "b9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0"
            + "Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"
        let rsa = try key(#"{"kty":"RSA","n":"\#(modulus)","e":"AQAB","alg":"RS256","kid":"2011-04-29"}"#)
        #expect(rsa.key.thumbprint == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
        #expect(rsa.id == "2011-04-29")
        // With a zero byte before the modulus and padding behind the exponent, as keys in the field have it.
        let number = try #require(Base64.urlSafe.bytes(of: modulus))
        let zeroed = Base64.urlSafe.text(of: [0] + number)
        let padded = try key(#"{"kty":"RSA","n":"\#(zeroed)","e":"AAEAAQ=="}"#)
        #expect(padded.key.kind == .rsa(bits: 2048) && padded.key.thumbprint == rsa.key.thumbprint)
    }

    @Test("a weak, broken or unknown key is refused by name")
    func refusals() throws {
        #expect(refusal(Vectors.weakKey) == .tooShort)
        let rsa = try #require(Vectors.made.first { $0.algorithm == .rs256 }).key
        for exponent in ["AQ", "Ag", "", "AAAA", "AQAAAAAAAAAB", "!"] {
            #expect(refusal(rsa.replacing(#""AQAB""#, with: "\"\(exponent)\"")) == .malformed)
        }
        let ec = try #require(Vectors.made.first { $0.algorithm == .es256 }).key
        #expect(refusal(ec.replacing("P-256", with: "secp256k1")) == .unknownKind)
        #expect(refusal(ec.replacing("P-256", with: "P-384")) == .malformed)
        #expect(refusal(ec.replacing(#""x":""#, with: #""x":"AA"#)) == .malformed)
        // (0, 0) is on no curve, nor is a point whose coordinates are swapped.
        let zero = Base64.urlSafe.text(of: Array(repeating: 0, count: 32))
        #expect(refusal(#"{"kty":"EC","crv":"P-256","x":"\#(zero)","y":"\#(zero)"}"#) == .malformed)
        #expect(
            refusal(
                ec.replacing(#""x""#, with: #""z""#).replacing(#""y""#, with: #""x""#).replacing(#""z""#, with: #""y""#)
            )
                == .malformed)
        #expect(refusal(#"{"kty":"oct","k":"AAAA"}"#) == .unknownKind)
        #expect(refusal(#"{"kty":"OKP","crv":"Ed448","x":"AAAA"}"#) == .unknownKind)
        #expect(refusal(#"{"kty":"OKP","crv":"X25519","x":"AAAA"}"#) == .unknownKind)
        #expect(refusal(#"{"kty":"OKP","crv":"Ed25519","x":"AAAA"}"#) == .malformed)
        #expect(refusal("[]") == .unknownKind)
        #expect(refusal(#"{"kty":"RSA"}"#) == .malformed)
    }

    @Test("use, alg and key_ops say what a key is meant for")
    func meanings() throws {
        let bare = try #require(Vectors.made.first { $0.algorithm == .es256 }).key.dropLast()
        for (members, isMeant) in [
            (#""use":"sig""#, true), (#""use":"enc""#, false), (#""alg":"ES256""#, true), (#""alg":"ES384""#, false),
            (#""key_ops":["verify"]"#, true), (#""key_ops":["sign"]"#, false), (#""key_ops":[]"#, false),
            (#""x5c":["AAAA"],"other":1e400"#, true),
        ] {
            #expect(try key("\(bare),\(members)}").isMeant(for: .es256) == isMeant, "\(members)")
        }
    }
}

extension String {
    func replacing(_ part: String, with other: String) -> String {
        split(separator: part, omittingEmptySubsequences: false).joined(separator: other)
    }
}
