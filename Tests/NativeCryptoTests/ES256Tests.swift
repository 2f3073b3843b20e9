// SPDX-License-Identifier: Apache-2.0
import NativeCrypto
import Testing

@Suite struct ES256Tests {
    /// RFC 6979, A.2.5.
    private let x = bytes("60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6")
    private let y = bytes("7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299")
    private let scalar = "C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721"
    private let signature = bytes(
        "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716"
            + "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8")

    @Test("the signatures of RFC 6979, A.2.5 and of RFC 7515, A.3 hold")
    func published() throws {
        let key = try #require(ES256PublicKey(x: x, y: y))
        #expect(key.isSignature(signature, over: Array("sample".utf8)))
        let joseX = try #require(Base64.urlSafe.bytes(of: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"))
        let joseY = try #require(Base64.urlSafe.bytes(of: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"))
        let jose = try #require(ES256PublicKey(x: joseX, y: joseY))
        let input =
            "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290"
            + "Ijp0cnVlfQ"
        let text = "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
        #expect(jose.isSignature(try #require(Base64.urlSafe.bytes(of: text)), over: Array(input.utf8)))
    }

    @Test("another message, key, byte or length is no signature")
    func altered() throws {
        let key = try #require(ES256PublicKey(x: x, y: y))
        let message = Array("sample".utf8)
        #expect(!key.isSignature(signature, over: Array("samples".utf8)))
        #expect(try !ES256PrivateKey().publicKey.isSignature(signature, over: message))
        for index in signature.indices {
            var other = signature
            other[index] ^= 1
            #expect(!key.isSignature(other, over: message))
        }
        for other in [[], Array(signature.dropLast()), signature + [0], [UInt8](repeating: 0, count: 64)] {
            #expect(!key.isSignature(other, over: message))
        }
    }

    @Test("what a new key signs has 64 bytes and holds, a leading zero in r or s among them")
    func signing() throws {
        let key = try ES256PrivateKey()
        var short = 0
        for number in 0..<1500 {
            let message = Array("message \(number)".utf8)
            let signature = key.signature(over: message)
            if signature.count == 64, signature[0] == 0 || signature[32] == 0 { short += 1 }
            guard signature.count == 64, key.publicKey.isSignature(signature, over: message) else {
                Issue.record("signature \(number) does not hold")
                return
            }
        }
        #expect(short > 0)
        #expect(key.publicKey.isSignature(key.signature(over: []), over: []))
        #expect("\(key)" == "redacted" && String(reflecting: key) == "redacted")
    }

    @Test("a private key is written and read in DER, and its public part comes with it")
    func der() throws {
        // ECPrivateKey: version 1, the scalar, prime256v1, the point.
        let written =
            bytes(
                "30770201010420\(scalar)a00a06082a8648ce3d030107a14403420004") + x + y
        let key = try #require(ES256PrivateKey(der: written))
        #expect(key.publicKey == ES256PublicKey(x: x, y: y))
        #expect(key.serialized() == written)
        let signature = key.signature(over: [1, 2, 3])
        #expect(try #require(ES256PublicKey(x: x, y: y)).isSignature(signature, over: [1, 2, 3]))
        #expect(ES256PrivateKey(der: try ES256PrivateKey().serialized()) != nil)
    }

    @Test("half a key, another curve, another's public part and a point off the curve are no keys")
    func broken() throws {
        let written = bytes("30770201010420\(scalar)a00a06082a8648ce3d030107a14403420004") + x + y
        #expect(ES256PrivateKey(der: []) == nil)
        #expect(ES256PrivateKey(der: Array(written.dropLast())) == nil)
        let stranger = try ES256PrivateKey().publicKey
        #expect(ES256PrivateKey(der: Array(written.dropLast(64)) + stranger.x + stranger.y) == nil)
        // secp256k1, without a point.
        #expect(ES256PrivateKey(der: bytes("302e0201010420\(scalar)a00706052b8104000a")) == nil)
        #expect(ES256PublicKey(x: y, y: x) == nil)
        #expect(ES256PublicKey(x: Array(x.dropLast()), y: y) == nil)
    }
}
