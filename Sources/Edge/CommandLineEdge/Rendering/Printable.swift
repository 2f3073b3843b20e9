// SPDX-License-Identifier: Apache-2.0
/// Text of others, made harmless to a terminal.
enum Printable {
    /// The text with `?` for every control character, and for those that hide or turn the text around them.
    static func text(_ text: String) -> String {
        var printed = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: printed.append("?")
            default: printed.append(scalar)
            }
        }
        return String(printed)
    }
}
