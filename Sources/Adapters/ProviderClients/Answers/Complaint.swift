// SPDX-License-Identifier: Apache-2.0
import NativeJSON

/// What an answer that brought no token complains of, raw: for classification only, never to be shown.
struct Complaint: Sendable {
    let status: Int
    /// `error` (RFC 6749, section 5.2), else `name` as in PayPal's own errors; an object's `type` or `code`.
    let error: String?
    /// `error_description`, else `message`.
    let description: String?
    let bodyKind: AnswerBody.Kind

    init(status: Int, body: AnswerBody) {
        self.status = status
        bodyKind = body.kind
        guard let members = body.members else {
            (error, description) = (nil, nil)
            return
        }
        let nested = members["error"].flatMap { $0.kind == .object ? $0 : nil }
        let told = members["error"]?.filledText ?? nested?["type"]?.filledText ?? nested?["code"]?.filledText
        // `name` may be a person's in an answer of success.
        let isSuccess = (200...299).contains(status)
        error = told ?? (isSuccess ? nil : members["name"]?.filledText)
        let message = members["error_description"] ?? nested?["message"] ?? (isSuccess ? nil : members["message"])
        description = message?.filledText
    }

    func isError(_ names: String...) -> Bool {
        guard let error else { return false }
        return names.contains { $0.isSameASCII(as: error) }
    }
}
