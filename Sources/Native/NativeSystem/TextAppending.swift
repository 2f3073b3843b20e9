// SPDX-License-Identifier: Apache-2.0

extension [UInt8] {
    /// Appends the text's UTF-8 in one piece; `+=` with a `UTF8View` goes byte by byte.
    package mutating func append(text: String) {
        let bytes = text.utf8.span
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }

    /// Appends the text's UTF-8, of which no `String` has to be made for that.
    package mutating func append(text: StaticString) {
        text.withUTF8Buffer { unsafe append(contentsOf: $0) }
    }

    /// Appends the number's decimal digits, after a minus sign where it is negative.
    package mutating func append(decimal number: Int64) {
        if number < 0 { append(UInt8(ascii: "-")) }
        var rest = number.magnitude
        var unit: UInt64 = 1
        while rest / unit >= 10 { unit *= 10 }
        while unit > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest / unit))
            rest %= unit
            unit /= 10
        }
    }
}
