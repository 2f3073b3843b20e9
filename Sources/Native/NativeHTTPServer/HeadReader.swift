// SPDX-License-Identifier: Apache-2.0
import NativeSystem

/// Reads a head beside libmicrohttpd, from the bytes as they came, and refuses what that parser lets through.
///
/// Every line must end with CR LF and every byte stand where RFC 9112 has a place for it; then the parser's reading
/// (where the head ends, how many fields it has) must be the same.
struct HeadReader {
    private let bytes: [UInt8]
    /// The next byte to read.
    private(set) var place = 0

    /// - Parameter bytes: begins with the head, or with empty lines before it.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The head, or the first thing that is wrong with it; `place` is then behind its last byte.
    ///
    /// - Parameters:
    ///   - size: how long the head is for the parser, from the method's first byte.
    ///   - fieldCount: how many field lines the parser has found.
    mutating func read(
        size: Int, fieldCount: Int, peer: PeerAddress, at now: MonotonicInstant
    ) throws(HTTPDefect) -> HTTPRequestHead {
        while byte(place) == 0x0D, byte(place + 1) == 0x0A { place += 2 }
        let start = place
        let method = try readMethod()
        let target = try readTarget()
        let (path, query) = try HeadReader.split(target, method: method)
        let isHTTP11 = try readVersion()
        let (headers, hasPaddedCoding) = try readFields()
        guard place - start == size, headers.count == fieldCount else { throw .lineEnd }
        guard !hasPaddedCoding else { throw .transferCoding }
        let length = try HeadReader.framing(of: headers, isHTTP11: isHTTP11)
        return HTTPRequestHead(
            method: method, rawPath: path, rawQuery: query, headers: headers, bodyLength: length, peer: peer,
            isHTTP11: isHTTP11, receivedAt: now)
    }

    /// Zero, which stands nowhere in a head, behind the last byte.
    private func byte(_ index: Int) -> UInt8 {
        index < bytes.count ? bytes[index] : 0
    }

    private mutating func readMethod() throws(HTTPDefect) -> String {
        let name = run(while: \.isTokenByte)
        guard !name.isEmpty, byte(place) == 0x20, byte(place + 1) != 0x20 else { throw .requestLine }
        place += 1
        return String(decoding: bytes[name], as: UTF8.self)
    }

    private mutating func readTarget() throws(HTTPDefect) -> [UInt8] {
        let target = run { $0 > 0x20 && $0 < 0x7F && $0 != 0x23 }
        guard !target.isEmpty, byte(place) == 0x20 else { throw .target }
        place += 1
        return Array(bytes[target])
    }

    private mutating func readVersion() throws(HTTPDefect) -> Bool {
        for expected in "HTTP/1.".utf8 {
            guard byte(place) == expected else { throw .requestLine }
            place += 1
        }
        let minor = byte(place)
        guard (0x30...0x39).contains(minor) else { throw .requestLine }
        place += 1
        try readLineEnd()
        return minor != 0x30
    }

    private mutating func readLineEnd() throws(HTTPDefect) {
        guard byte(place) == 0x0D, byte(place + 1) == 0x0A else { throw .lineEnd }
        place += 2
    }

    /// The path and the query of an origin-form or absolute-form target (RFC 9112, section 3.2).
    private static func split(
        _ target: [UInt8], method: String
    ) throws(HTTPDefect) -> (path: [UInt8], query: [UInt8]?) {
        var start = 0
        if target.first != 0x2F {
            if target == [0x2A], method == "OPTIONS" { return (target, nil) }
            start = try afterAuthority(target)
        }
        guard let mark = target[start...].firstIndex(of: 0x3F) else {
            return (start == 0 ? target : Array("/".utf8).replacedUnlessEmpty(by: target[start...]), nil)
        }
        let path = Array("/".utf8).replacedUnlessEmpty(by: target[start..<mark])
        return (path, Array(target[(mark + 1)...]))
    }

    /// Where the path or the query of `http://authority…` begins.
    private static func afterAuthority(_ target: [UInt8]) throws(HTTPDefect) -> Int {
        for scheme in ["http://", "https://"] {
            let length = scheme.utf8.count
            let isScheme =
                target.count > length
                && target.prefix(length).elementsEqual(scheme.utf8) { $0.lowercasedASCII == $1 }
            guard isScheme else { continue }
            return target[length...].firstIndex { $0 == 0x2F || $0 == 0x3F } ?? target.count
        }
        throw .target
    }

    private mutating func readFields() throws(HTTPDefect) -> (headers: HTTPHeaders, hasPaddedCoding: Bool) {
        let start = place
        var lines: [HTTPHeaders.Line] = []
        lines.reserveCapacity(16)
        var hasPaddedCoding = false
        while byte(place) != 0x0D {
            let name = run(while: \.isTokenByte)
            guard !name.isEmpty, byte(place) == 0x3A else { throw isLineDefect ? .lineEnd : .fieldName }
            place += 1
            let value = run(while: \.isFieldValueByte)
            guard byte(place) != 0x0D || byte(place + 1) == 0x0A else { throw .fieldValue }
            guard byte(place) == 0x0D else { throw isLineDefect ? .lineEnd : .fieldValue }
            place += 2
            let trimmed = trim(value)
            if name.count == 17, trimmed.upperBound != value.upperBound { hasPaddedCoding = true }
            lines.append(HTTPHeaders.Line(name: name - start, value: trimmed - start))
        }
        try readLineEnd()
        return (HTTPHeaders(bytes: Array(bytes[start..<place]), lines: lines), hasPaddedCoding)
    }

    /// Whether the next byte is one that only a folded or badly ended line has there, or a NUL.
    private var isLineDefect: Bool {
        switch byte(place) {
        case 0, 0x0A: true
        case 0x09, 0x20: byte(place - 1) == 0x0A
        default: false
        }
    }

    /// Moves behind the bytes that are allowed.
    private mutating func run(while isAllowed: (UInt8) -> Bool) -> Range<Int> {
        let start = place
        while place < bytes.count, isAllowed(bytes[place]) { place += 1 }
        return start..<place
    }

    private func trim(_ range: Range<Int>) -> Range<Int> {
        var (low, high) = (range.lowerBound, range.upperBound)
        while low < high, byte(low) == 0x20 || byte(low) == 0x09 { low += 1 }
        while high > low, byte(high - 1) == 0x20 || byte(high - 1) == 0x09 { high -= 1 }
        return low..<high
    }

    /// How long the body is, if every server would say the same (RFC 9112, sections 3.2 and 6.3).
    private static func framing(
        of headers: HTTPHeaders, isHTTP11: Bool
    ) throws(HTTPDefect) -> HTTPRequestHead.BodyLength {
        let hosts = headers.count(of: "host")
        guard hosts <= 1 else { throw .severalHosts }
        guard hosts == 1 || !isHTTP11 else { throw .missingHost }
        let codings = headers.count(of: "transfer-encoding")
        let lengths = headers.count(of: "content-length")
        guard codings == 0 || lengths == 0 else { throw .lengthBesideTransferCoding }
        guard lengths <= 1 else { throw .severalLengths }
        if codings > 0 {
            let isChunked =
                headers.first("transfer-encoding")?
                .elementsEqual("chunked".utf8) { $0.lowercasedASCII == $1 } ?? false
            guard codings == 1, isHTTP11, isChunked else { throw .transferCoding }
            return .chunked
        }
        guard let value = headers.first("content-length") else { return .none }
        guard !value.isEmpty, value.count <= 18, value.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw .invalidLength
        }
        let length = value.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        return length == 0 ? .none : .bytes(length)
    }
}

extension Range<Int> {
    /// The range moved down by `distance`.
    fileprivate static func - (range: Range<Int>, distance: Int) -> Range<Int> {
        (range.lowerBound - distance)..<(range.upperBound - distance)
    }
}

extension [UInt8] {
    fileprivate func replacedUnlessEmpty(by slice: ArraySlice<UInt8>) -> [UInt8] {
        slice.isEmpty ? self : Array(slice)
    }
}
