// SPDX-License-Identifier: Apache-2.0

extension [UInt8] {
    /// Appends the text's UTF-8 in one piece; `+=` with a `UTF8View` goes byte by byte.
    package mutating func append(text: String) {
        var text = text
        text.withUTF8 { unsafe append(contentsOf: $0) }
    }
}
