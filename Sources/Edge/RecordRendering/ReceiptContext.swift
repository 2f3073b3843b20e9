// SPDX-License-Identifier: Apache-2.0
import NativeJSON

/// The `@context` of a receipt (JSON-LD 1.1, section 4.1): it stands in each, so that none depends on a fetch.
enum ReceiptContext {
    private static let prefixes: [(name: String, address: JSONValue)] = [
        ("dct", "http://purl.org/dc/terms/"),
        ("dpv", "https://w3id.org/dpv#"),
        ("gateway", "urn:consent-gateway:"),
        ("loc", "https://w3id.org/dpv/loc#"),
        ("pd", "https://w3id.org/dpv/pd#"),
        ("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
        ("xsd", "http://www.w3.org/2001/XMLSchema#"),
    ]
    /// Members whose texts name something, rather than being the thing.
    private static let names = [
        "dct:conformsTo", "dct:isReplacedBy", "dpv:hasLegalBasis", "dpv:hasPersonalData", "dpv:hasProcessing",
        "dpv:hasRecipient", "dpv:isExercisedAt", "dpv:isIndicatedBy",
    ]
    private static let times = ["dct:created", "dct:modified", "dpv:isIndicatedAtTime"]

    static func value() -> JSONValue {
        var json = JSONValue.object()
        for prefix in prefixes { json.set(prefix.name, prefix.address) }
        for name in names { json.set(name, ["@type": "@id"] as JSONValue) }
        for name in times { json.set(name, ["@type": "xsd:dateTime"] as JSONValue) }
        return json
    }
}
