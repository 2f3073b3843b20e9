// SPDX-License-Identifier: Apache-2.0
import NativeCrypto
import Testing

@Suite struct Base64Tests {
    @Test(
        "the examples of RFC 4648 go there and back",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ])
    func examples(plain: String, text: String) {
        #expect(Base64.standard.text(of: Array(plain.utf8)) == text)
        #expect(Base64.standard.bytes(of: text) == Array(plain.utf8))
        let bare = text.filter { $0 != "=" }
        #expect(Base64.urlSafe.text(of: Array(plain.utf8)) == bare)
        #expect(Base64.urlSafe.bytes(of: bare) == Array(plain.utf8))
    }

    @Test("the two alphabets differ in their last two characters")
    func alphabets() {
        #expect(Base64.standard.text(of: [0xFB, 0xFF, 0xFE]) == "+//+")
        #expect(Base64.urlSafe.text(of: [0xFB, 0xFF, 0xFE]) == "-__-")
        #expect(Base64.urlSafe.bytes(of: "-__-") == [0xFB, 0xFF, 0xFE])
        #expect(Base64.standard.bytes(of: "-__-") == nil)
        #expect(Base64.urlSafe.bytes(of: "+//+") == nil)
    }

    @Test(
        "blanks, wrong padding and left-over bits are no base64",
        arguments: [
            "Zg", "Zg=", "Zg===", "Zh==", " Zg==", "Zg==\n", "Zm9v\nZm9v", "====", "=", "Zm=v", "Z*==", "é",
        ])
    func refused(text: String) {
        #expect(Base64.standard.bytes(of: text) == nil)
    }

    @Test("padding, a left-over bit and a single character are no base64url", arguments: ["Zg==", "Zh", "Z", "Zm9vY"])
    func refusedURLSafe(text: String) {
        #expect(Base64.urlSafe.bytes(of: text) == nil)
    }

    @Test("bytes of every length and value go there and back")
    func roundTrip() {
        for length in 0...300 {
            let value = randomBytes(length)
            #expect(Base64.standard.bytes(of: Base64.standard.text(of: value)) == value)
            #expect(Base64.urlSafe.bytes(of: Base64.urlSafe.text(of: value)) == value)
        }
    }
}
