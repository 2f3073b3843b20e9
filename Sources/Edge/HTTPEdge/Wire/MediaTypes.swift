// SPDX-License-Identifier: Apache-2.0
import NativeHTTPServer
import NativeSystem

/// What a request says of its body and of the answer that it takes (RFC 9110, sections 8.3 and 12.5.1).
enum MediaTypes {
    /// Whether the body is said to be JSON in UTF-8; parameters and case do not matter.
    static func isJSON(_ headers: HTTPHeaders) -> Bool {
        let fields = headers.all("Content-Type")
        guard fields.count == 1, let field = fields.first else { return false }
        // As nearly everybody writes it.
        if field.span.elementsEqual("application/json".utf8.span) { return true }
        guard let text = String(validating: field, as: UTF8.self) else { return false }
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
            // As nearly everybody writes it.
            if field.elementsEqual("*/*".utf8) || field.elementsEqual("application/json".utf8) { return true }
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

    /// The best of those that an `Accept` field lets through, the first of them where several are as good or there is
    /// no field (RFC 9110, section 12.5.1: weights, and the most specific range decides).
    /// - Parameter offers: in lower case, without parameters.
    /// - Returns: nil where none is acceptable.
    static func best(of offers: [String], for headers: HTTPHeaders) -> String? {
        let fields = headers.all("Accept").filter { !$0.isEmpty }
        guard !fields.isEmpty else { return offers.first }
        let ranges = fields.flatMap { AcceptedRange.all(in: $0) }
        var best: (offer: String, weight: Int)?
        for offer in offers {
            let fitting = ranges.filter { $0.covers(offer) }
            guard let weight = fitting.max(by: { $0.precision < $1.precision })?.weight, weight > 0 else { continue }
            if weight > best?.weight ?? 0 { best = (offer, weight) }
        }
        return best?.offer
    }

    /// Bytes, not characters: to find where a character ends costs more than all the rest here.
    fileprivate static func trimmed(_ text: Substring.UTF8View) -> String {
        let isBlank: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        var rest = text
        while let first = rest.first, isBlank(first) { rest.removeFirst() }
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        return String(Substring(rest))
    }
}

/// One media range of an `Accept` field.
private struct AcceptedRange {
    let type: String
    /// In thousandths, 0 to 1000.
    let weight: Int

    /// How narrow it is: 0 for all types, 1 for all of a kind, 2 for one.
    var precision: Int { type == "*/*" ? 0 : type.hasSuffix("/*") ? 1 : 2 }

    func covers(_ offer: String) -> Bool {
        switch precision {
        case 0: true
        case 1: offer.hasPrefix(type.dropLast())
        default: offer == type
        }
    }

    /// What is no text is passed over.
    static func all(in field: ArraySlice<UInt8>) -> [AcceptedRange] {
        guard let text = String(validating: field, as: UTF8.self) else { return [] }
        return text.lowercased().utf8.split(separator: UInt8(ascii: ",")).compactMap { range in
            let parts = range.split(separator: UInt8(ascii: ";")).map(MediaTypes.trimmed)
            guard let type = parts.first else { return nil }
            let given = parts.dropFirst().first { $0.hasPrefix("q=") }
            return AcceptedRange(type: type, weight: given.map { thousandths($0.dropFirst(2)) } ?? 1000)
        }
    }

    /// `0`, `0.5`, `1.000` (RFC 9110, section 12.4.2); whatever else counts as 1.
    private static func thousandths(_ text: Substring) -> Int {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let digits = parts.count == 2 ? String(parts[1].prefix(3)) : ""
        let padded = digits + String(repeating: "0", count: 3 - digits.count)
        guard let whole = Int(parts[0]), whole == 0, let rest = Int(padded), rest >= 0 else { return 1000 }
        return rest
    }
}
