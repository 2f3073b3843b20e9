// SPDX-License-Identifier: Apache-2.0
import NativeJSON

/// What holds for every JSON text: callers' are taken as the standard has it or refused, providers' mended.
enum JSONProperties {
    static func check(_ input: [UInt8], _ breaches: inout Breaches) {
        let strict: JSONValue?
        do throws(JSONError) { strict = try JSONValue.parse(input, as: .callers) } catch {
            strict = nil
            // The failure says where, and nothing of what stands there.
            breaches.expect("\(error)".utf8.count < 200, "a failure is a long story: \(error)")
        }
        let lenient = try? JSONValue.parse(input, as: .providers)
        if let strict {
            breaches.expect(lenient == strict, "what callers may write is something else from a provider")
            checkWritten(strict, as: .callers, &breaches)
        }
        guard let lenient else { return }
        checkWritten(lenient, as: .providers, &breaches)
        // A mark is passed over where the text begins, and is no blank anywhere else.
        if input.starts(with: [0xEF, 0xBB, 0xBF]) { return }
        for (source, value) in [(JSONSource.providers, lenient), (.callers, strict)] {
            let marked = try? JSONValue.parse([0xEF, 0xBB, 0xBF] + input, as: source)
            breaches.expect(marked == value, "a byte-order mark changes what is read")
        }
        let wrapped = try? JSONValue.parse(Array(#"{"access_token":"A","x":"#.utf8) + input + [0x7D], as: .providers)
        if strict != nil {
            breaches.expect(wrapped?["access_token"]?.string == "A", "a member beside a token cost the token")
        }
    }

    private static func checkWritten(_ value: JSONValue, as source: JSONSource, _ breaches: inout Breaches) {
        for style in [JSONStyle.compact, .canonical, .indented] {
            let written = value.serialized(style)
            let again = try? JSONValue.parse(written, as: source)
            breaches.expect(again == value, "a value that was written and read again is another one (\(style))")
            breaches.expect(again?.serialized(style) == written, "a value is written in two ways (\(style))")
        }
    }
}
