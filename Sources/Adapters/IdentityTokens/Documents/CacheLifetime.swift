// SPDX-License-Identifier: Apache-2.0

/// How long an answer may be kept by its header fields (RFC 9111, sections 4.2.1 and 5.2.2): `max-age` less `Age`.
///
/// - Parameters:
///   - cacheControl: every `Cache-Control` of the answer.
///   - age: its `Age`.
/// - Returns: zero where it may not be kept; nil where the fields say nothing, or nonsense.
package func cacheLifetime(cacheControl: [String], age: String?) -> Duration? {
    let directives = cacheControl.flatMap { $0.split(separator: ",") }.map { directive in
        String(decoding: directive.utf8.compactMap { lowered($0) }, as: UTF8.self)
    }
    if directives.contains("no-store") || directives.contains("no-cache") { return .zero }
    guard let text = directives.first(where: { $0.hasPrefix("max-age=") })?.dropFirst("max-age=".count),
        let seconds = count(text)
    else { return nil }
    let spent = age.flatMap { count($0[...]) } ?? 0
    return .seconds(max(0, seconds - spent))
}

/// Lower case without blanks and quotation marks.
private func lowered(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x20, 0x09, 0x22: nil
    case 0x41...0x5A: byte | 0x20
    default: byte
    }
}

/// Decimal digits, held at 2^31 (RFC 9111, section 1.2.2).
private func count(_ text: Substring) -> Int64? {
    guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
    return text.utf8.count > 10 ? 1 << 31 : Int64(text).map { min($0, 1 << 31) }
}
