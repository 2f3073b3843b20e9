// SPDX-License-Identifier: Apache-2.0
import NativeCrypto
import NativeJSON
import Testing

@testable import NativeJOSE

private func fault(_ text: String) -> CompactJWSFault? {
    do throws(CompactJWSFault) {
        _ = try CompactJWS(text)
        return nil
    } catch { return error }
}

private func encoded(_ text: String) -> String { Base64.urlSafe.text(of: Array(text.utf8)) }

@Suite struct CompactJWSTests {
    private let head = encoded(#"{"alg":"RS256"}"#)

    @Test("a token has three parts of canonical base64url and a header with distinct names")
    func faults() {
        #expect(fault("\(head).e30.AA") == nil)
        #expect(fault("\(head).e30.") == nil)
        #expect(fault("") == .parts(1))
        #expect(fault("\(head).e30") == .parts(2))
        #expect(fault("\(head).e30.AA.AA") == .parts(4))
        #expect(fault("\(head).e30.AA.AA.AA") == .parts(5))
        #expect(fault("\(head).e30.AB") == .encoding)
        #expect(fault("\(head).e30=.AA") == .encoding)
        #expect(fault("\(head).e+0.AA") == .encoding)
        #expect(fault("\(head).e3 0.AA") == .encoding)
        #expect(fault("\(head).e30.AA\n") == .encoding)
        #expect(fault("\(head).e30.\u{0}") == .encoding)
        #expect(fault(".e30.AA") == .header)
        #expect(fault("\(encoded("[]")).e30.AA") == .header)
        #expect(fault("\(encoded("{")).e30.AA") == .header)
        #expect(fault("\(encoded("\u{FEFF}{}")).e30.AA") == .header)
        #expect(fault("\(encoded(#"{"alg":"RS256","alg":"none"}"#)).e30.AA") == .duplicateMember)
        #expect(fault(String(repeating: "A", count: 65_537)) == .tooLong)
    }

    @Test("a token is harmless when printed")
    func printing() throws {
        let token = try CompactJWS(Vectors.made[0].token)
        #expect("\(token)" + String(reflecting: token) == "a signed tokena signed token")
        #expect(Mirror(reflecting: token).children.isEmpty)
    }
}

@Suite struct ClientSecretMACTests {
    @Test("RFC 7515, A.1 is verified with its key, and with no other")
    func published() throws {
        let secret = try #require(Base64.urlSafe.bytes(of: Vectors.macKey))
        let token = try CompactJWS(Vectors.macToken)
        #expect(try ClientSecretMAC(secret: secret).verifies(token))
        #expect(!(try ClientSecretMAC(secret: secret.dropLast() + [0])).verifies(token))
        let cut = try CompactJWS(String(Vectors.macToken.dropLast(3)))
        #expect(!(try ClientSecretMAC(secret: secret)).verifies(cut))
    }

    @Test("a secret of 31 bytes, and a public key, are no secret")
    func refusals() {
        #expect(throws: SecretRefusal.tooShort) { try ClientSecretMAC(secret: Array(repeating: 7, count: 31)) }
        #expect(throws: SecretRefusal.publicKey) { try ClientSecretMAC(secret: Array(Vectors.p256PEM.utf8)) }
        #expect(throws: SecretRefusal.publicKey) { try ClientSecretMAC(secret: Array(Vectors.made[0].key.utf8)) }
    }
}

@Suite struct JSONWebKeySetTests {
    @Test("a key that is not understood costs no other one, and is told by its name")
    func passedOver() throws {
        let good = Vectors.made.map(\.key).joined(separator: ",")
        let document = """
            \u{FEFF}{"keys":[{"kty":"new","kid":"n"},7,null,{"kty":"oct","k":"AA","kid":"o"},\(Vectors.weakKey),\(good)]}
            """
        let set = try JSONWebKeySet(document: Array(document.utf8))
        #expect(set.keys.count == Vectors.made.count)
        #expect(set.passedOver.map(\.reason) == [.unknownKind, .unknownKind, .unknownKind, .unknownKind, .tooShort])
        #expect(set.passedOver.map(\.id) == ["n", nil, nil, "o", nil])
    }

    @Test("a document that is no set, or too long, is refused")
    func faults() {
        for (text, fault) in [
            ("", KeySetFault.notJSON), ("<html>", .notJSON), ("[]", .noKeys), ("{}", .noKeys),
            (#"{"keys":{}}"#, .noKeys), (String(repeating: " ", count: 262_145), .tooLong),
        ] {
            #expect(throws: fault) { try JSONWebKeySet(document: Array(text.utf8)) }
        }
    }

    @Test("no more than a hundred keys are looked at")
    func bound() throws {
        let many = Array(repeating: Vectors.made[9].key, count: 120).joined(separator: ",")
        #expect(try JSONWebKeySet(document: Array(#"{"keys":[\#(many)]}"#.utf8)).keys.count == 100)
    }
}

@Suite struct AssertionKeyTests {
    @Test("what a private key signs, its public JWK verifies", arguments: [JOSEAlgorithm.rs256, .ps256, .es256])
    func roundTrip(_ algorithm: JOSEAlgorithm) throws {
        let pems = algorithm == .es256 ? [Vectors.p256PEM, Vectors.p256OlderPEM] : [Vectors.rsaPEM]
        for pem in pems {
            let key = try AssertionKey(pem: Array(pem.utf8), algorithm: algorithm)
            let text = key.sign(["iss": "c", "n": 7], type: "JWT")
            let token = try CompactJWS(text)
            let set = JSONValue(dictionaryLiteral: ("keys", .array([key.publicJWK])))
            let read = try #require(try JSONWebKeySet(document: set.serialized(.compact)).keys.first)
            #expect(read.key.verifies(token, as: algorithm))
            #expect(token.keyID == read.id && read.id == key.keyID && read.key.thumbprint == key.keyID)
            #expect(token.header["typ"]?.string == "JWT")
            #expect(String(decoding: token.payload, as: UTF8.self) == #"{"iss":"c","n":7}"#)
            #expect(key.publicJWK["d"] == nil && key.publicJWK.members.allSatisfy { $0.name != "p" })
        }
    }

    @Test("the usual algorithm of a key is RS256 or ES256")
    func usual() throws {
        #expect(try AssertionKey(pem: Array(Vectors.rsaPEM.utf8)).algorithm == .rs256)
        #expect(try AssertionKey(pem: Array(Vectors.p256PEM.utf8)).algorithm == .es256)
    }

    @Test("a weak key, one under a passphrase and one of another kind are refused, and no refusal holds a byte of them")
    func refusals() {
        for (pem, algorithm, sentence) in [
            (Vectors.weakPEM, nil, KeyRefusal.tooShort.description),
            (Vectors.passphrasePEM, nil, PEMRefusal.noKey.description),
            (Vectors.p384PEM, nil, PEMRefusal.otherKind.description),
            (Vectors.ed25519PEM, nil, PEMRefusal.otherKind.description),
            ("", nil, PEMRefusal.noKey.description), ("-----BEGIN PRIVATE KEY-----", nil, PEMRefusal.noKey.description),
            (Vectors.rsaPEM, JOSEAlgorithm.es256, AssertionKeyRefusal.algorithm.description),
            (Vectors.p256PEM, .rs256, AssertionKeyRefusal.algorithm.description),
            (Vectors.rsaPEM, .rs384, AssertionKeyRefusal.algorithm.description),
        ] {
            do throws(AssertionKeyRefusal) {
                _ = try AssertionKey(pem: Array(pem.utf8), algorithm: algorithm)
                Issue.record("a key was taken")
            } catch { #expect(error.description == sentence) }
        }
    }

    @Test("a private key is harmless when printed")
    func printing() throws {
        let key = try AssertionKey(pem: Array(Vectors.rsaPEM.utf8))
        #expect("\(key)" == "redacted" && Mirror(reflecting: key).children.isEmpty)
    }
}
