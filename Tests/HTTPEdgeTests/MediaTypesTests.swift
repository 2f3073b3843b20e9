// SPDX-License-Identifier: Apache-2.0
import NativeHTTPServer
import Testing

@testable import HTTPEdge

@Suite("The form of an answer that has several")
struct MediaTypesTests {
    private static let forms = ReceiptForm.allCases.map(\.rawValue)

    @Test(
        "the caller's weights decide, the narrowest range first, and the usual form where they do not",
        arguments: [
            ([], "application/json"), ([""], "application/json"), (["*/*"], "application/json"),
            (["application/jwt"], "application/jwt"), (["APPLICATION/JWT;q=1"], "application/jwt"),
            (["application/ld+json, application/json;q=0.9"], "application/ld+json"),
            (["application/json;q=0.5, application/jwt;q=0.501"], "application/jwt"),
            (["application/*;q=0.2, application/jwt;q=0.1"], "application/json"),
            (["application/json;q=0, */*"], "application/ld+json"),
            (["application/json ; q=0.000", "application/ld+json; q=0 , application/* "], "application/jwt"),
            (["text/html, application/jwt"], "application/jwt"), (["text/html"], nil), (["*/*;q=0"], nil),
            (["application/problem+json"], nil), (["application/jwt;q=0"], nil), ([","], nil),
            (["application/jwt;q=nonsense, */*;q=0.9"], "application/jwt"),
            (["application/json;q=0., application/jwt;q=.5"], "application/jwt"),
        ] as [([String], String?)])
    func best(_ fields: [String], _ form: String?) {
        let headers = HTTPHeaders(fields.map { ("Accept", $0) })
        #expect(MediaTypes.best(of: MediaTypesTests.forms, for: headers) == form)
    }
}
