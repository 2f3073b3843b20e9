// SPDX-License-Identifier: Apache-2.0
import NativeHTTPServer

/// What a request says of its body and of the answer that it takes (RFC 9110, sections 8.3 and 12.5.1).
enum MediaTypes {
    /// Whether the body is said to be JSON in UTF-8; parameters and case do not matter.
    static func isJSON(_ headers: HTTPHeaders) -> Bool {
        let fields = headers.all("Content-Type")
        guard fields.count == 1, let text = String(validating: fields[0], as: UTF8.self) else { return false }
        let parts = text.lowercased().utf8.split(separator: UInt8(ascii: ";")).map(trimmed)
        guard let type = parts.first, type == "application/json" || type.hasSuffix("+json") else { return false }
        let charset = parts.dropFirst().first { $0.hasPrefix("charset=") }
        return charset.map { ["charset=utf-8", "charset=\"utf-8\"", "charset=utf8"].contains($0) } ?? true
    }

    /// Whether the body comes as it is, in no coding such as gzip (RFC 9110, section 8.4).
    static func isUncoded(_ headers: HTTPHeaders) -> Bool {
        headers.all("Content-Encoding").allSatisfy { field in
            field.isEmpty || String(decoding: field, as: UTF8.self).lowercased() == "identity"
        }
    }

    /// Whether an `Accept` field, if there is one, lets JSON through.
    static func acceptsJSON(_ headers: HTTPHeaders) -> Bool {
        // An empty field asks for nothing in particular (RFC 9110, section 5.6.1.2).
        let fields = headers.all("Accept").filter { !$0.isEmpty }
        guard !fields.isEmpty else { return true }
        for field in fields {
            guard let text = String(validating: field, as: UTF8.self) else { continue }
            for range in text.lowercased().utf8.split(separator: UInt8(ascii: ",")) {
                let parts = range.split(separator: UInt8(ascii: ";")).map(trimmed)
                let isRefused = parts.dropFirst().contains { ["q=0", "q=0.0", "q=0.00", "q=0.000"].contains($0) }
                let wanted = ["*/*", "application/*", "application/json", "application/problem+json"]
                if let type = parts.first, wanted.contains(type), !isRefused { return true }
            }
        }
        return false
    }

    /// Bytes, not characters: to find where a character ends costs more than all the rest here.
    private static func trimmed(_ text: Substring.UTF8View) -> String {
        let isBlank: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        var rest = text
        while let first = rest.first, isBlank(first) { rest.removeFirst() }
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        return String(Substring(rest))
    }
}
