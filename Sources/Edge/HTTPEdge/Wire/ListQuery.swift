// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeCrypto

/// The query of `GET /v1/consents` (contract, section 2).
struct ListQuery: Sendable {
    let subject: Subject?
    let provider: String?
    let status: ConsentStatus?
    let cursor: ConsentID?
    let limit: Int

    private static let names = ["subject", "provider", "status", "cursor", "limit"]

    /// - Parameter owner: the user who asks, and sees no other's; nil for an API key.
    /// - Throws: `Problem` 400 that names the parameter.
    init(_ target: RawTarget, of owner: Subject?) throws(Problem) {
        // A filter with a slip in its name would show everybody's records.
        guard target.parameterNames.allSatisfy(ListQuery.names.contains) else {
            throw .invalidRequest("the query takes \(ListQuery.names.joined(separator: ", ")), and nothing else.")
        }
        if let owner {
            subject = owner
        } else if let text = try target.parameter("subject") {
            guard let subject = Subject(text) else {
                throw .invalidRequest("subject: it must be 1 to 255 bytes of UTF-8 without control characters.")
            }
            self.subject = subject
        } else {
            subject = nil
        }
        provider = try target.parameter("provider")
        if let text = try target.parameter("status") {
            guard let status = ConsentStatus(rawValue: text) else {
                let known = ConsentStatus.allCases.map(\.rawValue).joined(separator: ", ")
                throw .invalidRequest("status: it must be one of \(known).")
            }
            self.status = status
        } else {
            status = nil
        }
        if let text = try target.parameter("cursor") {
            guard let cursor = ListQuery.cursor(text) else {
                throw .invalidRequest("cursor: take it from next_cursor of the page before, as it is.")
            }
            self.cursor = cursor
        } else {
            cursor = nil
        }
        let text = try target.parameter("limit") ?? "50"
        guard let limit = Int(text), (1...200).contains(limit) else {
            throw .invalidRequest("limit: it must be a number from 1 to 200.")
        }
        self.limit = limit
    }

    /// Where the next page begins, as callers carry it: nothing to be read or made by hand.
    static func cursorText(_ id: ConsentID) -> String { Base64.urlSafe.text(of: id.uuid.bytes) }

    private static func cursor(_ text: String) -> ConsentID? {
        Base64.urlSafe.bytes(of: text).flatMap(UUIDv7.init(bytes:)).map(ConsentID.init)
    }
}

extension RawTarget {
    /// A parameter in whole seconds.
    /// - Throws: `Problem` 400 for anything but a number of at least `least`.
    func seconds(_ name: String, atLeast least: Int64) throws(Problem) -> Duration? {
        guard let text = try parameter(name) else { return nil }
        guard let seconds = Int64(text), seconds >= least, seconds <= 3_153_600_000 else {
            throw .invalidRequest("\(name): it must be a number of seconds, \(least) or more.")
        }
        return .seconds(seconds)
    }
}
