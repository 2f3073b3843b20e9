// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Consents
import NativeSystem

/// Why a subject was not read; the sentence does not tell it.
struct SubjectFailure: Error {
    var sentence: String
}

extension SubjectSource {
    /// - Throws: ``SubjectFailure``.
    func read() throws(SubjectFailure) -> Subject {
        var text: String?
        switch self {
        case .written(let written): text = written
        case .standardInput:
            do {
                var bytes = try readStandardInput(limit: 1024)
                if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
                text = String(validating: bytes, as: UTF8.self)
            } catch {
                throw SubjectFailure(sentence: "the subject on the standard input: \(error.sentence)")
            }
        }
        guard let text, let subject = Subject(text) else {
            throw SubjectFailure(sentence: "the subject is not 1 to 255 bytes of UTF-8 without control characters")
        }
        return subject
    }
}
