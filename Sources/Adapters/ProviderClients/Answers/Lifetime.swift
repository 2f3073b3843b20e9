// SPDX-License-Identifier: Apache-2.0
import NativeJSON

/// The lifetimes in a token answer.
enum Lifetime {
    /// Ten years of 366 days, in seconds: PayPal's refresh tokens live "up to ten years".
    static let longest: Int64 = 10 * 366 * 86_400

    /// Whole seconds of a number or a numeric text, rounded down.
    /// - Returns: nil for 0, a negative, over ten years and what is no number.
    static func seconds(_ value: JSONValue?, unit: AnswerRules.LifetimeUnit) -> Int64? {
        guard let number = value?.real ?? value?.string.flatMap(number) else { return nil }
        let seconds = unit == .seconds ? number : number / 1000
        guard seconds >= 1, seconds <= Double(longest) else { return nil }
        return Int64(seconds)
    }

    /// A decimal number with blanks around it; nil for anything else (`Double` would take `nan` and `0x1p3`).
    private static func number(_ text: String) -> Double? {
        let trimmed = text.utf8.drop { $0 <= 0x20 }.reversed().drop { $0 <= 0x20 }.reversed()
        let isDecimal = trimmed.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x2E, 0x2B, 0x2D, 0x45, 0x65: true
            default: false
            }
        }
        return isDecimal ? Double(String(decoding: Array(trimmed), as: UTF8.self)) : nil
    }
}
