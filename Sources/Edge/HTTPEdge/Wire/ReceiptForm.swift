// SPDX-License-Identifier: Apache-2.0
/// What `GET …/receipt` can be answered as, by media type; the usual one first.
enum ReceiptForm: String, CaseIterable {
    case json = "application/json"
    /// The same document by its own name.
    case linkedData = "application/ld+json"
    /// The same, signed (RFC 7519).
    case token = "application/jwt"
}
