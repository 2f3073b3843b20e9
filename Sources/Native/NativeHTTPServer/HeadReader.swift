// SPDX-License-Identifier: Apache-2.0
import NativeSystem

/// Reads a head again, in the buffer where libmicrohttpd has parsed it, and refuses what that parser lets through.
///
/// In the buffer the parser has put zeros over each CR LF (two), bare LF (one), the first colon of a field line, and
/// the blanks around the target. So a lone zero where two must stand is a bare LF or a NUL that the peer sent, a folded
/// line begins with a blank or was wiped out, and what the parser took for something else shows in the count.
///
/// What cannot be told apart from CR LF in that buffer: a NUL before a bare LF, and a line of nothing but a colon with a
/// bare LF, which the parser takes for the end of the head. A server in front that passes on NULs, or lines without a
/// name, must not be trusted to frame requests.
@safe struct HeadReader: ~Copyable {
    /// From the method's first byte to the last of the empty line.
    private let bytes: UnsafeRawBufferPointer
    private let targetStart: Int
    private let versionStart: Int

    /// - Parameters:
    ///   - bytes: valid while the access callback runs, as are the offsets into it.
    @unsafe init(_ bytes: UnsafeRawBufferPointer, targetStart: Int, versionStart: Int) {
        unsafe self.bytes = bytes
        self.targetStart = targetStart
        self.versionStart = versionStart
    }

    /// The head, or the first thing that is wrong with it.
    ///
    /// - Parameters:
    ///   - target: the request target as it came, cut at a NUL where the peer sent one.
    ///   - fieldCount: how many field lines the parser has found.
    func read(
        target: [UInt8], fieldCount: Int, peer: PeerAddress, at now: MonotonicInstant
    ) throws(HTTPDefect) -> HTTPRequestHead {
        let method = try readMethod()
        guard versionStart == targetStart + target.count + 1 else { throw .target }
        let (path, query) = try HeadReader.split(target, method: method)
        let isHTTP11 = try readVersion()
        let (headers, hasPaddedCoding) = try readFields()
        guard headers.count == fieldCount else { throw .lineEnd }
        guard !hasPaddedCoding else { throw .transferCoding }
        let length = try HeadReader.framing(of: headers, isHTTP11: isHTTP11)
        return HTTPRequestHead(
            method: method, rawPath: path, rawQuery: query, headers: headers, bodyLength: length, peer: peer,
            isHTTP11: isHTTP11, receivedAt: now)
    }

    private func byte(_ index: Int) -> UInt8 {
        unsafe bytes[index]
    }

    private func readMethod() throws(HTTPDefect) -> String {
        guard targetStart > 1, targetStart < versionStart, unsafe versionStart + 10 <= bytes.count,
            byte(targetStart - 1) == 0
        else { throw .requestLine }
        let name = unsafe bytes[0..<(targetStart - 1)]
        guard unsafe name.allSatisfy(\.isTokenByte) else { throw .requestLine }
        return unsafe String(decoding: name, as: UTF8.self)
    }

    /// libmicrohttpd has seen to `HTTP/1.` and a digit already.
    private func readVersion() throws(HTTPDefect) -> Bool {
        guard byte(versionStart) == 0x48, byte(versionStart + 8) == 0, byte(versionStart + 9) == 0 else {
            throw .lineEnd
        }
        return byte(versionStart + 7) != 0x30
    }

    /// The path and the query of an origin-form or absolute-form target (RFC 9112, section 3.2).
    private static func split(
        _ target: [UInt8], method: String
    ) throws(HTTPDefect) -> (path: [UInt8], query: [UInt8]?) {
        guard target.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x23 }) else { throw .target }
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

    private func readFields() throws(HTTPDefect) -> (headers: HTTPHeaders, hasPaddedCoding: Bool) {
        let start = versionStart + 10
        let count = unsafe bytes.count
        var lines: [HTTPHeaders.Line] = []
        lines.reserveCapacity(16)
        var hasPaddedCoding = false
        var at = start
        while true {
            guard at + 1 < count else { throw .lineEnd }
            if byte(at) == 0 {
                guard byte(at + 1) == 0, at + 2 == count else { throw .lineEnd }
                break
            }
            guard byte(at) != 0x20, byte(at) != 0x09 else { throw .lineEnd }
            let name = try run(from: at, orThrow: .fieldName, while: \.isTokenByte)
            let value = try run(from: name.upperBound + 1, orThrow: .fieldValue, while: \.isFieldValueByte)
            guard value.upperBound + 1 < count, byte(value.upperBound + 1) == 0 else { throw .lineEnd }
            let trimmed = trim(value)
            if name.count == 17, trimmed.upperBound != value.upperBound { hasPaddedCoding = true }
            lines.append(HTTPHeaders.Line(name: name - start, value: trimmed - start))
            at = value.upperBound + 2
        }
        let copy = unsafe [UInt8](UnsafeRawBufferPointer(rebasing: bytes[start..<count]))
        return (HTTPHeaders(bytes: copy, lines: lines), hasPaddedCoding)
    }

    /// The bytes from `start` to the next zero.
    private func run(
        from start: Int, orThrow defect: HTTPDefect, while isAllowed: (UInt8) -> Bool
    ) throws(HTTPDefect) -> Range<Int> {
        let count = unsafe bytes.count
        var at = start
        while at < count, byte(at) != 0 {
            guard isAllowed(byte(at)) else { throw defect }
            at += 1
        }
        guard at < count else { throw .lineEnd }
        return start..<at
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
