// SPDX-License-Identifier: Apache-2.0

/// A request as the simulated provider got it.
package struct SimulatedCall: Sendable {
    /// A header field as it came.
    package struct Field: Sendable, Equatable {
        package let name: String
        package let value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    package let method: String
    /// Path and query, not decoded.
    package let target: String
    package let fields: [Field]
    package let body: [UInt8]

    package init(method: String, target: String, fields: [Field], body: [UInt8]) {
        self.method = method
        self.target = target
        self.fields = fields
        self.body = body
    }

    /// The path, not decoded.
    package var path: Substring {
        target.utf8.firstIndex(of: UInt8(ascii: "?")).map { target[..<$0] } ?? target[...]
    }

    /// The pairs of the query.
    package var query: FormPairs {
        FormPairs(Array(target.utf8.dropFirst(path.utf8.count + 1)))
    }

    /// The pairs of a form body.
    package var form: FormPairs { FormPairs(body) }

    /// The value of the first field of that name, in any case.
    package func field(_ name: String) -> String? {
        fields.first { $0.name.lowercased() == name }?.value
    }
}
