// SPDX-License-Identifier: Apache-2.0
import Consents
package import NativeCurl
import NativeSystem

/// An answer as its readers see it: no socket, no clock. Harmless when printed.
package struct ProviderAnswer: Sendable {
    package var status: Int
    package var body: [UInt8]
    private let fields: Fields

    private enum Fields: Sendable {
        case made([(name: String, value: String)])
        /// Most are never looked at: each is read when it is asked for.
        case heard(CurlHeaders)
    }

    /// - Parameter headers: names in any case.
    package init(status: Int, headers: [(name: String, value: String)], body: [UInt8]) {
        self.status = status
        self.body = body
        fields = .made(headers)
    }

    package init(_ answer: CurlAnswer) {
        status = answer.status
        body = answer.body
        fields = .heard(answer.headers)
    }

    var isSuccess: Bool { (200...299).contains(status) }

    /// The value of the first header field of that name.
    func header(_ name: String) -> String? {
        switch fields {
        case .made(let headers): headers.first { $0.name.isSameASCII(as: name) }?.value
        case .heard(let headers): headers[name.lowercased()]
        }
    }

    /// The media type without its parameters, in lower case (RFC 9110, section 8.3.1); nil where none is given.
    var mediaType: String? {
        guard let field = header("content-type") else { return nil }
        let isUsual: (UInt8) -> Bool = { 0x61...0x7A ~= $0 || 0x2B...0x2F ~= $0 }
        // As nearly everybody writes it.
        if !field.isEmpty, field.utf8.span.allSatisfy(isUsual) { return field }
        let written = field.utf8.prefix { $0 != UInt8(ascii: ";") }
        if !written.isEmpty, written.allSatisfy(isUsual) { return String(Substring(written)) }
        let type = written.filter { $0 != 0x20 && $0 != 0x09 }
        return type.isEmpty ? nil : String(decoding: type, as: UTF8.self).lowercased()
    }
}

extension ProviderAnswer: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "status \(status), \(body.count) bytes" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
