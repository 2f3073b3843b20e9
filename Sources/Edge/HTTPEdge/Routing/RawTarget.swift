// SPDX-License-Identifier: Apache-2.0

/// A request target as it stood on the wire: each segment and query value decoded by length (RFC 3986, section 2.1).
struct RawTarget: Sendable, Equatable {
    /// The segments behind the leading slash.
    let segments: [String]
    private let parameters: [(name: String, value: String)]

    /// - Throws: `Problem` 400 for a bad escape, `%00`, a control character or bad UTF-8, and for a path that does not
    ///   begin with a slash.
    init(path: [UInt8], query: [UInt8]?) throws(Problem) {
        guard path.first == UInt8(ascii: "/") else { throw .invalidRequest("the path must begin with a slash.") }
        var segments: [String] = []
        segments.reserveCapacity(4)
        var start = path.startIndex
        while start < path.endIndex {
            let next = path[(start + 1)...]
            let end = next.firstIndex(of: UInt8(ascii: "/")) ?? path.endIndex
            segments.append(try RawTarget.decode(next[..<end], plusIsBlank: false))
            start = end
        }
        self.segments = segments
        var parameters: [(name: String, value: String)] = []
        for pair in (query ?? []).split(separator: UInt8(ascii: "&")) {
            let sides = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let name = try RawTarget.decode(sides[0], plusIsBlank: true)
            let value = sides.count == 2 ? try RawTarget.decode(sides[1], plusIsBlank: true) : ""
            parameters.append((name, value))
        }
        self.parameters = parameters
    }

    /// The names of the query's parameters, decoded.
    var parameterNames: [String] { parameters.map(\.name) }

    /// - Throws: `Problem` 400 where the parameter stands there twice.
    func parameter(_ name: String) throws(Problem) -> String? {
        let found = parameters.filter { $0.name == name }
        guard found.count < 2 else { throw .invalidRequest("\(name): the query names it twice.") }
        return found.first?.value
    }

    static func == (left: RawTarget, right: RawTarget) -> Bool {
        left.segments == right.segments && left.parameters.elementsEqual(right.parameters) { $0 == $1 }
    }

    private static func decode(_ bytes: ArraySlice<UInt8>, plusIsBlank: Bool) throws(Problem) -> String {
        // As nearly everybody writes it.
        if bytes.allSatisfy({ 0x20..<0x7F ~= $0 && $0 != UInt8(ascii: "%") && $0 != UInt8(ascii: "+") }) {
            return String(decoding: bytes, as: UTF8.self)
        }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var position = bytes.startIndex
        while position < bytes.endIndex {
            let byte = bytes[position]
            if byte == UInt8(ascii: "%") {
                guard position + 2 < bytes.endIndex, let high = nibble(bytes[position + 1]),
                    let low = nibble(bytes[position + 2])
                else { throw .invalidRequest("the path or query holds a bad escape.") }
                decoded.append(high << 4 | low)
                position += 3
            } else {
                decoded.append(plusIsBlank && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                position += 1
            }
        }
        guard !decoded.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw .invalidRequest("the path or query holds a control character.")
        }
        guard let text = String(validating: decoded, as: UTF8.self) else {
            throw .invalidRequest("the path or query is not UTF-8.")
        }
        return text
    }

    private static func nibble(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
