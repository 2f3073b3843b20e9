// SPDX-License-Identifier: Apache-2.0
import NativeCrypto
import NativeJSON
import SimulatedProvider
import Testing

@Suite("Client authentication at the simulated provider")
struct ClientAuthenticationTests {
    @Test("a wrong secret is PayPal's invalid_client, and the code stays good")
    func wrongSecret() {
        let bench = Bench()
        let form: KeyValuePairs = ["grant_type": "authorization_code", "code": "code-for:alice:1"]
        for basic in [Bench.basic("simulated-client", "wrong"), "Basic !!!", "Bearer x", nil] {
            let reply = bench.post("/v1/oauth2/token", form, basic: basic)
            #expect(reply?.status == 401)
            #expect(reply?.text("error") == "invalid_client")
            #expect(reply?.text("error_description") == "Client Authentication failed")
        }
        #expect(bench.post("/v1/oauth2/token", form)?.status == 200)
    }

    @Test("identifier and secret are form-encoded before base64, or raw where the options say so")
    func encodings() {
        let form: KeyValuePairs = ["grant_type": "authorization_code", "code": "code-for:alice:1"]
        let encoded = "Basic " + Base64.standard.text(of: Array("1PpG%2FQ+1:z%2Ft%2BZ%3A%3D".utf8))
        let raw = Bench.basic("1PpG/Q 1", "z/t+Z:=")
        for (encoding, good, bad) in [(BasicEncoding.rfc6749, encoded, raw), (.raw, raw, encoded)] {
            let bench = Bench {
                $0.clients = ["1PpG/Q 1": "z/t+Z:="]
                $0.basicEncoding = encoding
            }
            #expect(bench.post("/token", form, basic: bad)?.text("error") == "invalid_client")
            #expect(bench.post("/token", form, basic: good)?.status == 200)
        }
    }

    @Test("the secret may come in the body, but not in both places")
    func secretInBody() {
        let bench = Bench()
        let form: KeyValuePairs = [
            "grant_type": "authorization_code", "code": "code-for:alice:1", "client_id": "simulated-client",
            "client_secret": "simulated-secret",
        ]
        #expect(bench.post("/token", form)?.text("error") == "invalid_request")
        #expect(bench.post("/token", form, basic: nil)?.status == 200)
    }

    @Test("another grant type is unknown here")
    func grantType() {
        let bench = Bench()
        let reply = bench.post("/v1/oauth2/token", ["grant_type": "client_credentials"])
        #expect(reply?.text("error") == "unsupported_grant_type")
    }

    @Test("form text is read and written as browsers do")
    func forms() {
        let text = "AB+C/D=&%é"
        #expect(FormPairs.encode(text) == "AB%2BC%2FD%3D%26%25%C3%A9")
        #expect(FormPairs.decode(FormPairs.encode(text)) == text)
        let pairs = FormPairs(Array("a=1+2&&b&c=%zz%4&=d&a=3".utf8))
        #expect(pairs["a"] == "1 2" && pairs["b"] == "" && pairs["c"] == "%zz%4" && pairs[""] == "d")
        #expect(pairs["x"] == nil)
    }
}
