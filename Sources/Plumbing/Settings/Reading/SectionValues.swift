// SPDX-License-Identifier: Apache-2.0

/// Typed single values of a section. A value that is not of its form is an error and reads as absent.
extension SectionReader {
    mutating func text(_ key: String) -> String? { scalar(key, isSecret: false)?.text }

    /// A text that must be there.
    mutating func requiredText(_ key: String) -> String {
        if let text = text(key) { return text }
        if !has(key) { fail(key, "is missing; give a value") }
        return ""
    }

    /// A value of a form: `read` gives nil for what is not of it, `form` says what it is and how to write it.
    mutating func value<Value>(_ key: String, _ form: String, _ read: (String) -> Value?) -> Value? {
        guard let scalar = scalar(key, isSecret: false) else { return nil }
        if let value = read(scalar.text) { return value }
        context.fail(path.appending(.key(key)), scalar.place, form)
        return nil
    }

    mutating func boolean(_ key: String) -> Bool? {
        value(key, "is no boolean; write true or false") { ["true": true, "false": false][$0] }
    }

    mutating func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
        value(key, "is no whole number from \(range.lowerBound) to \(range.upperBound)") { text in
            ScalarForms.wholeNumber(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A duration of at least 1 ms.
    mutating func duration(_ key: String) -> Duration? {
        value(key, "is no duration; write a whole number and a unit: 500ms, 30s, 15m, 12h, 30d or 6y") { text in
            ScalarForms.duration(text).flatMap { $0 > .zero ? $0 : nil }
        }
    }

    mutating func size(_ key: String, in range: ClosedRange<Int>) -> Int? {
        let bounds = "from \(range.lowerBound) to \(range.upperBound) bytes"
        return value(key, "is no size \(bounds); write a whole number and a unit, such as 64KiB") { text in
            ScalarForms.size(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    mutating func rate(_ key: String) -> Rate? {
        value(key, "is no rate; write how many in how long, such as 50/s or 10/10m", ScalarForms.rate)
    }

    /// One word of an enumeration.
    mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(_ key: String, of _: Choice.Type) -> Choice? {
        guard let scalar = scalar(key, isSecret: false) else { return nil }
        if let choice = Choice(rawValue: scalar.text) { return choice }
        let words = Choice.allCases.map(\.rawValue)
        let hint = nearest(to: scalar.text, among: words).map { "; did you mean \($0)?" } ?? ""
        context.fail(path.appending(.key(key)), scalar.place, "must be one of \(words.joined(separator: ", "))\(hint)")
        return nil
    }

    /// A path, from the file's folder where it is relative.
    mutating func filePath(_ key: String) -> String? { text(key).map(context.resolve) }

    /// SHA-256 in hexadecimal, in either case.
    mutating func digest(_ key: String) -> [UInt8]? {
        value(key, "is no SHA-256; write its 64 hexadecimal digits") { text in
            ScalarForms.hexadecimal(text).flatMap { $0.count == 32 ? $0 : nil }
        }
    }

    /// An address that is called: https, or http to this machine; without user, password and fragment.
    mutating func endpoint(_ key: String) -> String? {
        guard let scalar = scalar(key, isSecret: false) else { return nil }
        if let problem = Self.endpointProblem(scalar.text) {
            context.fail(path.appending(.key(key)), scalar.place, problem)
            return nil
        }
        return scalar.text
    }

    /// What is wrong with an address that is called; nil: nothing.
    static func endpointProblem(_ text: String) -> String? {
        guard let address = WebAddress(text) else { return "is no URL that can be called; write https://host/path" }
        guard !address.hasUser else { return "must not hold a user or password" }
        switch address.scheme {
        case "https": return nil
        case "http" where address.isLoopback: return nil
        case "http": return "plain http is for this machine only (localhost, 127.0.0.1, [::1]); use https"
        default: return "must begin with https://"
        }
    }
}
