// SPDX-License-Identifier: Apache-2.0
import Consents
import Testing

@Suite struct ScrubberTests {
    private static let code = "EBYh/+ ~\u{E9}9x"
    private let scrubber = Scrubber([SecretText(ScrubberTests.code), SecretText("ab"), SecretText("")])

    @Test(
        "a value is taken out in clear and in every mix of percent- and form-encoding",
        arguments: [
            code, "EBYh%2F%2B%20~%C3%A99x", "EBYh%2f%2b+%7e%c3%a99x", "%45%42%59%68%2F%2B%20%7E%C3%A9%39%78",
            "EBYh/%2b+~%C3%a99x",
        ])
    func percentEncoded(spelling: String) {
        #expect(scrubber.clean("the code '\(spelling)' is used") == "the code '***' is used")
    }

    @Test(
        "a value is taken out of base64, whatever stands before it and after it",
        arguments: [
            // x:, xy:, xyz: before the code and ! after it, by coreutils' base64 and its --base64url
            "eDpFQlloLysgfsOpOXgh", "eHk6RUJZaC8rIH7DqTl4IQ==", "eHl6OkVCWWgvKyB+w6k5eCE=", "eHl6OkVCWWgvKyB-w6k5eCE",
            "eHl6OkVCWWgvKyB%2Bw6k5eCE%3D",
        ])
    func base64(spelling: String) {
        let cleaned = scrubber.clean("header \(spelling)")
        #expect(cleaned.contains("***"))
        #expect(cleaned.count < "header ".count + 3 + 12)
        #expect(!cleaned.contains("WWgv") && !cleaned.contains("JZaC") && !cleaned.contains("lloL"))
    }

    @Test("control characters go, also those that would hide a value")
    func controlCharacters() {
        #expect(scrubber.clean("a\u{0}b\r\nc\u{1B}[31m\u{9B}\u{202E}d\u{2028}") == "abc[31md")
        #expect(scrubber.clean("EBYh/\u{0}+ ~\u{200B}\u{E9}9x") == "***")
    }

    @Test("a text is cut to 200 characters, and no value survives at the cut")
    func cut() {
        #expect(scrubber.clean(String(repeating: "é", count: 500)) == String(repeating: "é", count: 200))
        let text = String(repeating: ".", count: 195) + Self.code
        #expect(scrubber.clean(text) == String(repeating: ".", count: 195) + "***")
        #expect(scrubber.clean(String(repeating: "x", count: 1_000_000)).count == 200)
    }

    @Test("a value of under 4 bytes goes as a word and stays inside of words")
    func shortValues() {
        #expect(scrubber.clean("code ab, absurd, (ab)") == "code ***, absurd, (***)")
    }

    @Test("an abridged token counts as the token")
    func abridged() {
        let scrubber = Scrubber([SecretText("A21AAGHr9qtiRRXHLEgoKtrmQpv4Zz")])
        #expect(scrubber.clean("token A21AAGHr9qtiRRXHLEg... is no good") == "token ***... is no good")
        #expect(scrubber.clean("token A21AAGHr… is no good") == "token A21AAGHr… is no good")
    }

    @Test(
        "a value that was encoded twice, escaped, read as a form or cut short is taken out",
        arguments: [
            "EBYh%252F%252B%2520~%25C3%25A99x", "EBYh%25252F%25252B%252520~%2525C3%2525A99x", #"EBYh\/+ ~é9x"#,
            "EBYh/  ~é9x", "EBYh/+ ~é9", "EBYh/+ ~é",
        ])
    func respelled(spelling: String) {
        #expect(scrubber.clean("the code '\(spelling)' is used") == "the code '***' is used")
    }

    @Test("ordinary words stay")
    func ordinaryWords() {
        #expect(scrubber.clean("EBYh 100%25 of C:\\EBYh/ is EBY") == "EBYh 100%25 of C:\\EBYh/ is EBY")
    }

    @Test("a percent sign in a value is found as itself and encoded")
    func percentSign() {
        let scrubber = Scrubber([SecretText("100%25x")])
        #expect(scrubber.clean("a 100%25x b 100%2525x c") == "a *** b *** c")
    }
}
