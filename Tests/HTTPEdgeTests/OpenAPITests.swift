// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeHTTPServer
import NativeJSON
import NativeSystem
import RecordRendering
import Testing

@testable import HTTPEdge

@Suite("The description of the API") struct OpenAPITests {
    private let document: JSONValue

    init() throws { document = try JSONValue.parse(try OpenAPIDocument.load().bytes, as: .callers) }

    private static let methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]

    private func described(_ section: String) throws -> [(method: String, path: String, operation: JSONValue)] {
        let paths = try #require(document[section])
        return paths.members.flatMap { path in
            path.value.members.filter { $0.name != "parameters" }
                .map { (method: $0.name.uppercased(), path: path.name, operation: $0.value) }
        }
    }

    @Test("each route and method of the table is described, and nothing else")
    func routes() throws {
        var routed = Set(PublicPages.paths.map { "GET \($0)" })
        for pattern in Route.patterns {
            let path = pattern.replacing("{id}", with: "cns_019378f0c0de7000a1b2c3d4e5f60718")
            for method in OpenAPITests.methods {
                let segments = path.dropFirst().split(separator: "/").map(String.init)
                guard case .route(let route) = Route.match(method: method, segments: segments) else { continue }
                routed.insert("\(method) \(route.pattern)")
            }
        }
        let described = try described("paths")
        #expect(Set(described.map { "\($0.method) \($0.path)" }) == routed)
        #expect(Set(described.map(\.path)) == Set(Route.patterns))
    }

    @Test("each operation names the scope that its route asks for, and a public one asks for no key")
    func scopes() throws {
        for (method, path, operation) in try described("paths") {
            let text = try #require(operation["description"]?.string)
            let segments = path.replacing("{id}", with: "cns_019378f0c0de7000a1b2c3d4e5f60718").dropFirst()
                .split(separator: "/").map(String.init)
            guard case .route(let route) = Route.match(method: method, segments: segments) else {
                #expect(operation["security"]?.count == 0)
                continue
            }
            #expect(text.contains("`\(route.scope.rawValue)`"), "\(method) \(path)")
            // Either of the two, unless it is for API keys alone.
            let only = operation["security"]?.array?.flatMap { $0.members.map(\.name) }
            #expect(only == (route.isForUsers ? nil : ["apiKey"]), "\(method) \(path)")
            #expect((operation["requestBody"] != nil) == (route.body != .none), "\(method) \(path)")
            let isRequired = operation["requestBody"]?["required"]?.boolean == true
            #expect(isRequired == (route.body == .required), "\(method) \(path)")
        }
    }

    @Test("no call answers with a redirect")
    func redirects() throws {
        for (method, path, operation) in try described("paths") + described("x-admin") {
            let statuses = try #require(operation["responses"]).members.map(\.name)
            #expect(!statuses.isEmpty && statuses.allSatisfy { !$0.hasPrefix("3") }, "\(method) \(path)")
        }
    }

    @Test("each problem code is described with its statuses, and no other is")
    func problems() throws {
        let made = Set(ProblemCode.allCases.flatMap { code in code.statuses.map { "\($0) \(code.rawValue)" } })
        var described: Set<String> = []
        let responses = try #require(document["components"]?["responses"])
        for (name, response) in responses.members {
            let schema = response["content"]?["application/problem+json"]?["schema"]?["allOf"]?[1]?["properties"]
            let status = try #require(schema?["status"]?["const"]?.integer)
            #expect(name == "Problem\(status)")
            for code in schema?["code"]?["enum"]?.array ?? [] { described.insert("\(status) \(code.string ?? "")") }
        }
        #expect(described == made)
    }

    @Test("each operation's problems are those of its status")
    func problemsOfOperations() throws {
        for (method, path, operation) in try described("paths") + described("x-admin") {
            for (status, response) in try #require(operation["responses"]).members {
                guard let reference = response["$ref"]?.string else { continue }
                #expect(reference == "#/components/responses/Problem\(status)", "\(method) \(path)")
            }
        }
    }

    @Test("each reference leads somewhere")
    func references() {
        var values = [document]
        while let value = values.popLast() {
            if let reference = value["$ref"]?.string {
                let found = reference.split(separator: "/").dropFirst().reduce(document as JSONValue?) {
                    $0?[String($1)]
                }
                #expect(found != nil, "\(reference)")
            }
            values += value.members.map(\.value) + (value.array ?? [])
        }
    }

    @Test("numbers and truths are such, and texts that look so are texts")
    func scalars() {
        #expect(document["openapi"]?.string == "3.1.0")
        #expect(document["info"]?["version"]?.string == "1")
        let limit = document["components"]?["parameters"]?["limit"]?["schema"]
        #expect(limit?["maximum"]?.integer == 200)
        #expect(document["components"]?["parameters"]?["id"]?["required"]?.boolean == true)
    }

    private func page(_ method: String, _ path: String, accept: String = "*/*") throws -> HTTPResponse? {
        let head = HTTPRequestHead(
            method: method, rawPath: Array(path.utf8), headers: HTTPHeaders([("Accept", accept)]),
            peer: PeerAddress(text: "127.0.0.1", bytes: [127, 0, 0, 1], port: 1), receivedAt: .now())
        let context = RequestContext(head: head, proxies: .none, entropy: FixedEntropy(), time: StillTime())
        let pages = PublicPages(
            openAPI: try OpenAPIDocument.load(),
            receipts: ReceiptWriter(base: "https://gateway.example", keys: NoKeys()),
            clientKeys: { ["keys": [["kid": "client"]]] })
        return try pages.answer(to: head, context)
    }

    @Test("anyone reads it, in one way")
    func page() throws {
        let answer = try #require(try page("GET", "/openapi.json"))
        #expect(answer.status == 200 && answer.body == document.serialized(.compact))
        #expect(try page("GET", "/openapi.yaml") == nil)
        #expect(throws: Problem.methodNotAllowed("GET, HEAD")) { try page("POST", "/openapi.json") }
        #expect(throws: Problem.notAcceptable) { try page("GET", "/openapi.json", accept: "text/html") }
        let keys = try #require(try page("HEAD", "/.well-known/receipt-keys.json"))
        #expect(keys.body == Array(#"{"keys":[]}"#.utf8))
        #expect(throws: Problem.methodNotAllowed("GET, HEAD")) { try page("PUT", "/.well-known/receipt-keys.json") }
        let clientKeys = try #require(try page("GET", "/.well-known/jwks.json"))
        #expect(clientKeys.body == Array(#"{"keys":[{"kid":"client"}]}"#.utf8))
        #expect(throws: Problem.methodNotAllowed("GET, HEAD")) { try page("POST", "/.well-known/jwks.json") }
    }
}

/// A ring without an evidence key.
struct NoKeys: EvidenceKeys, EvidenceSigner {
    var evidenceSigner: any EvidenceSigner { self }
    var keyID: String { "none" }
    var publicKeys: [EvidencePublicKey] { [] }
    func signature(over message: [UInt8]) throws(VaultFailure) -> [UInt8] { throw .keyMissing(keyID: keyID) }
    func verdict(on signature: [UInt8], over message: [UInt8], keyID: String) -> SignatureVerdict { .keyUnknown }
}
