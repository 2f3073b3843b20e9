// SPDX-License-Identifier: Apache-2.0

/// The parts of an absolute URL that the configuration must know. Stricter than any client: what is odd is refused
/// here, so that no two readers can take it for different hosts.
struct WebAddress: Equatable {
    /// In lower case.
    var scheme: String
    /// In lower case, an IPv6 address without its brackets.
    var host: String
    var port: Int?
    var hasUser: Bool
    var hasPassword: Bool
    /// From the first `/`, with the query; empty where nothing follows the authority.
    var target: String

    /// Reads `scheme://[user[:password]@]host[:port][/path][?query]`; nil for anything else, also with a fragment,
    /// blanks, backslashes, control characters or anything beyond ASCII.
    init?(_ text: String) {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != 0x5c }), !text.contains("#") else { return nil }
        guard let scheme = Self.scheme(of: text) else { return nil }
        let rest = text[text.index(text.startIndex, offsetBy: scheme.count)...]
        guard rest.hasPrefix("://") else { return nil }
        let afterScheme = rest.dropFirst(3)
        let end = afterScheme.firstIndex { $0 == "/" || $0 == "?" } ?? afterScheme.endIndex
        var authority = afterScheme[..<end]
        (hasUser, hasPassword) = (false, false)
        if let at = authority.lastIndex(of: "@") {
            (hasUser, hasPassword) = (true, authority[..<at].contains(":"))
            authority = authority[authority.index(after: at)...]
        }
        guard let (host, port) = Self.hostAndPort(authority) else { return nil }
        self.scheme = scheme.lowercased()
        (self.host, self.port) = (host.lowercased(), port)
        target = String(afterScheme[end...])
    }

    /// Whether the host is this machine: `localhost`, 127.0.0.0/8 or `::1`.
    var isLoopback: Bool { host == "localhost" || host == "::1" || Self.ipv4(host)?.first == 127 }

    /// The scheme with which `text` begins, as written (RFC 3986, section 3.1); nil where none does.
    static func scheme(of text: String) -> String? {
        guard let colon = text.firstIndex(of: ":"), let first = text.utf8.first else { return nil }
        let scheme = text[..<colon]
        let isScheme = scheme.utf8.allSatisfy { isLetterOrDigit($0) || "+-.".utf8.contains($0) }
        return isScheme && isLetterOrDigit(first) && !(0x30...0x39).contains(first) ? String(scheme) : nil
    }

    /// The four numbers of a dotted IPv4 address without leading zeros.
    static func ipv4(_ text: String) -> [Int]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            ScalarForms.wholeNumber(part).flatMap { $0 <= 255 && String($0) == part ? $0 : nil }
        }
        return parts.count == 4 && numbers.count == 4 ? numbers : nil
    }

    /// Whether it is an IPv6 address in hexadecimal groups, with at most one `::`.
    static func isIPv6(_ text: String) -> Bool {
        let groups = text.split(separator: ":", omittingEmptySubsequences: false)
        let filled = groups.filter { !$0.isEmpty }
        guard (3...9).contains(groups.count), filled.count <= 8 else { return false }
        guard filled.allSatisfy({ $0.utf8.count <= 4 && $0.utf8.allSatisfy(isHexadecimal) }) else { return false }
        let shortenings = text.indices.filter { text[$0...].hasPrefix("::") }.count
        if shortenings == 0 { return filled.count == 8 && groups.count == 8 }
        let endsWell = (!text.hasPrefix(":") || text.hasPrefix("::")) && (!text.hasSuffix(":") || text.hasSuffix("::"))
        return shortenings == 1 && filled.count <= 7 && endsWell
    }

    private static func hostAndPort(_ authority: Substring) -> (host: String, port: Int?)? {
        var host = authority
        var port: Int?
        if let colon = authority.lastIndex(of: ":"), !authority.hasSuffix("]") {
            guard let number = ScalarForms.wholeNumber(authority[authority.index(after: colon)...]),
                (1...65535).contains(number)
            else { return nil }
            (host, port) = (authority[..<colon], number)
        }
        if host.hasPrefix("["), host.hasSuffix("]") {
            let address = String(host.dropFirst().dropLast())
            return isIPv6(address) ? (address, port) : nil
        }
        let isName = host.utf8.allSatisfy { isLetterOrDigit($0) || "-._".utf8.contains($0) }
        guard isName, !host.isEmpty, host.utf8.first != UInt8(ascii: "."), !looksLikeOddNumber(host) else { return nil }
        return (String(host), port)
    }

    /// A host whose last label is a number must be a whole IPv4 address: `127.1` and `0x7f.1` mean different hosts to
    /// different readers.
    private static func looksLikeOddNumber(_ host: Substring) -> Bool {
        guard let last = host.split(separator: ".").last else { return true }
        let isNumber = last.utf8.allSatisfy { (0x30...0x39).contains($0) } || last.lowercased().hasPrefix("0x")
        return isNumber && ipv4(String(host)) == nil
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
    }
}
