// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import ProviderClients

@Suite("Form encoding")
struct FormEncodingTests {
    @Test(
        "bytes are encoded as the URL Standard has it",
        arguments: [
            ("AB+C/D=&%é", "AB%2BC%2FD%3D%26%25%C3%A9"), ("a b", "a+b"), ("*-._", "*-._"),
            ("~!'()", "%7E%21%27%28%29"),
            ("4%2F0AX", "4%252F0AX"), ("\0\n\u{7F}", "%00%0A%7F"), ("", ""), ("\u{1F600}", "%F0%9F%98%80"),
        ])
    func encoding(text: String, encoded: String) {
        #expect(String(decoding: FormEncoding.encode(text), as: UTF8.self) == encoded)
    }

    @Test("every text comes back from its encoding")
    func roundTrip() {
        let text = String(String.UnicodeScalarView((1...0x2FF).compactMap(Unicode.Scalar.init)))
        let pairs = FormEncoding.decode([0x61, 0x3D] + FormEncoding.encode(text))
        #expect(pairs.map(\.name) == ["a"])
        #expect(pairs.map(\.value) == [text])
    }

    @Test("odd forms are decoded as far as they go")
    func oddForms() {
        let pairs = FormEncoding.decode(Array("a=1&&b&=c&d=%zz%4&e=x=y".utf8))
        #expect(pairs.map(\.name) == ["a", "b", "", "d", "e"])
        #expect(pairs.map(\.value) == ["1", "", "c", "%zz%4", "x=y"])
    }
}
