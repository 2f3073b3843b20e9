// SPDX-License-Identifier: Apache-2.0
import ProviderClients

/// A provider's answer as a fuzzed input spells it: the status, header lines `Name: value`, an empty line, the body.
///
/// Bytes rather than a decoded form, so that a person can read and write the corpus.
enum AnswerText {
    static func answer(_ input: [UInt8]) -> ProviderAnswer {
        let (head, body) = InputText.headAndBody(input)
        let lines = head.split(separator: 0x0A, omittingEmptySubsequences: false)
        let status = lines.first.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 200
        let headers = lines.dropFirst().map { line -> (name: String, value: String) in
            let (name, value) = InputText.field(line)
            return (String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
        }
        return ProviderAnswer(status: status, headers: headers, body: body)
    }
}

/// How the parts of an input are found.
enum InputText {
    /// What stands before and behind the first empty line.
    static func headAndBody(_ input: [UInt8]) -> (head: ArraySlice<UInt8>, body: [UInt8]) {
        for index in input.indices.dropLast() where input[index] == 0x0A && input[index + 1] == 0x0A {
            return (input[..<index], Array(input[(index + 2)...]))
        }
        return (input[...], [])
    }

    /// What stands before and behind the first newline.
    static func firstLine(_ input: [UInt8]) -> (line: [UInt8], rest: [UInt8]) {
        guard let end = input.firstIndex(of: 0x0A) else { return (input, []) }
        return (Array(input[..<end]), Array(input[(end + 1)...]))
    }

    /// A header line's name and value, without the blank behind the colon.
    static func field(_ line: ArraySlice<UInt8>) -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return (line, []) }
        return (line[..<colon], line[(colon + 1)...].drop { $0 == 0x20 })
    }
}
