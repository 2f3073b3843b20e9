// SPDX-License-Identifier: Apache-2.0
import Consents
package import NativeCurl

/// An answer as its readers see it: no socket, no clock. Harmless when printed.
package struct ProviderAnswer: Sendable {
    package var status: Int
    /// Names in any case.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]

    package init(status: Int, headers: [(name: String, value: String)], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    package init(_ answer: CurlAnswer) {
        self.init(status: answer.status, headers: answer.headers.all, body: answer.body)
    }

    var isSuccess: Bool { (200...299).contains(status) }

    /// The value of the first header field of that name.
    func header(_ name: String) -> String? { headers.first { $0.name.isSameASCII(as: name) }?.value }

    /// The media type without its parameters, in lower case (RFC 9110, section 8.3.1); nil where none is given.
    var mediaType: String? {
        guard let field = header("content-type") else { return nil }
        let type = field.utf8.prefix { $0 != UInt8(ascii: ";") }.filter { $0 != 0x20 && $0 != 0x09 }
        return type.isEmpty ? nil : String(decoding: type, as: UTF8.self).lowercased()
    }
}

extension ProviderAnswer: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "status \(status), \(body.count) bytes" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
