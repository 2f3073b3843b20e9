// SPDX-License-Identifier: Apache-2.0
import NativeHTTPServer

/// The caller's `traceparent` (W3C Trace Context, section 3.2): which trace a request belongs to.
struct TraceParent: Sendable, Equatable {
    /// 32 lower-case hexadecimal digits, not all zero.
    let traceID: String

    /// - Returns: nil without the field, with two of them, and for one that is not as the specification has it.
    init?(_ headers: HTTPHeaders) {
        guard headers.count(of: "traceparent") == 1, let field = headers.first("traceparent") else { return nil }
        self.init(field)
    }

    /// Version 00 is `00-<trace>-<parent>-<flags>`, 55 bytes. A later version may go on behind a further dash, and its
    /// first 55 bytes are read as 00's; `ff` is no version.
    init?(_ field: ArraySlice<UInt8>) {
        let bytes = Array(field)
        guard bytes.count >= 55, [2, 35, 52].allSatisfy({ bytes[$0] == TraceParent.dash }) else { return nil }
        let version = bytes[..<2]
        let parts = [version, bytes[3..<35], bytes[36..<52], bytes[53..<55]]
        guard parts.allSatisfy({ $0.allSatisfy(TraceParent.isDigit) }), !version.elementsEqual("ff".utf8) else {
            return nil
        }
        let isOver = bytes.count == 55 || !version.elementsEqual("00".utf8) && bytes[55] == TraceParent.dash
        guard isOver, [parts[1], parts[2]].allSatisfy({ $0.contains { $0 != UInt8(ascii: "0") } }) else { return nil }
        traceID = String(decoding: parts[1], as: UTF8.self)
    }

    private static let dash = UInt8(ascii: "-")

    private static func isDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
        default: false
        }
    }
}
