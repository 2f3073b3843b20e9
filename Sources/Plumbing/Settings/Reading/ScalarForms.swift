// SPDX-License-Identifier: Apache-2.0

/// How single values are written. Each reader gives nil for what is not of its form; nothing is guessed.
enum ScalarForms {
    /// `500ms 30s 15m 12h 30d 6y`: a whole number and a unit; a year is 365 days. At most 100 years.
    static func duration(_ text: String) -> Duration? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let count = wholeNumber(digits), let unit = units[String(text[digits.endIndex...])] else { return nil }
        guard count <= longest / unit else { return nil }
        return .milliseconds(count * unit)
    }

    /// `64KiB`, `1MiB`, `2GiB`, `512B`, or a bare number of bytes.
    static func size(_ text: String) -> Int? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let factors = ["": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30]
        guard let count = wholeNumber(digits), let factor = factors[String(text[digits.endIndex...])] else {
            return nil
        }
        guard count <= (1 << 40) / factor else { return nil }
        return count * factor
    }

    /// `50/s`, `10/10m`: how many, in a unit of time or a duration.
    static func rate(_ text: String) -> Rate? {
        guard let slash = text.firstIndex(of: "/"), let count = wholeNumber(text[..<slash]), count > 0 else {
            return nil
        }
        let rest = String(text[text.index(after: slash)...])
        guard let period = duration(rest.first?.isNumber == true ? rest : "1\(rest)"), period > .zero else {
            return nil
        }
        return Rate(count: count, period: period)
    }

    /// `127.0.0.1:8080`, `[::1]:8080`; the host is a numeric address or `localhost`, which is 127.0.0.1.
    static func listenAddress(_ text: String) -> ListenAddress? {
        guard let colon = text.lastIndex(of: ":"), let port = wholeNumber(text[text.index(after: colon)...]),
            port <= 65535
        else { return nil }
        let written = String(text[..<colon])
        if written.hasPrefix("["), written.hasSuffix("]") {
            let host = String(written.dropFirst().dropLast())
            guard WebAddress.isIPv6(host) else { return nil }
            return ListenAddress(host: host, port: UInt16(port))
        }
        let host = written == "localhost" ? "127.0.0.1" : written
        guard WebAddress.ipv4(host) != nil else { return nil }
        return ListenAddress(host: host, port: UInt16(port))
    }

    /// A number without a sign, of 1 to 15 ASCII digits.
    static func wholeNumber(_ text: some StringProtocol) -> Int? {
        guard (1...15).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }

    /// Bytes of a text of hexadecimal digits, in either case.
    static func hexadecimal(_ text: String) -> [UInt8]? {
        let digits = text.utf8.map(hexDigit)
        guard !digits.isEmpty, digits.count.isMultiple(of: 2), !digits.contains(nil) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { (digits[$0] ?? 0) << 4 | (digits[$0 + 1] ?? 0) }
    }

    private static let units = [
        "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "y": 365 * 86_400_000,
    ]
    private static let longest = 100 * 365 * 86_400_000

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x61...0x66: byte - 0x61 + 10
        case 0x41...0x46: byte - 0x41 + 10
        default: nil
        }
    }
}
