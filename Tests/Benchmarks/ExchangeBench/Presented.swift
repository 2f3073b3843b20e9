// SPDX-License-Identifier: Apache-2.0
import NativeSystem

/// The codes and the numbered refresh tokens that came to a provider.
final class Presented: Sendable {
    private struct Counts {
        var exchanges = 0
        var refreshes = 0
        /// Tokens and codes that had come before.
        var doubled = 0
        /// Whether each token came, by its number; as many as were issued.
        var tokens: [Bool] = []
        var codes: Set<Int> = []
    }

    private let counts = Locked(Counts())

    /// Where the number stands in a token and in an answer: after this.
    private static let mark = Array("R103.".utf8)
    private static let digits = 12
    private static let place = position(of: mark, in: Provider.tokens) ?? 0

    /// An answer with a token that nobody has yet.
    func tokens(for body: [UInt8]) -> [UInt8] {
        let (token, code) = (Presented.number(in: body), body.hashValue)
        let issued = counts.withLock { counts in
            if let token {
                counts.refreshes += 1
                if counts.tokens.indices.contains(token) {
                    if counts.tokens[token] { counts.doubled += 1 }
                    counts.tokens[token] = true
                }
            } else {
                counts.exchanges += 1
                if !counts.codes.insert(code).inserted { counts.doubled += 1 }
            }
            counts.tokens.append(false)
            return counts.tokens.count - 1
        }
        return Presented.answer(issued)
    }

    var report: [UInt8] {
        let text = counts.withLock { counts in
            "{\"exchanges\":\(counts.exchanges),\"refreshes\":\(counts.refreshes),\"doubled\":\(counts.doubled)}"
        }
        return Array(text.utf8)
    }

    private static func answer(_ number: Int) -> [UInt8] {
        var (bytes, rest) = (Provider.tokens, number)
        for index in stride(from: place + digits - 1, through: place, by: -1) {
            bytes[index] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
        return bytes
    }

    /// Of the token in a form; nil where there is none, or one without a number.
    private static func number(in body: [UInt8]) -> Int? {
        guard let place = position(of: mark, in: body), place + digits <= body.count else { return nil }
        return Int(String(decoding: body[place..<(place + digits)], as: UTF8.self))
    }

    /// Where those bytes end in others for the first time.
    private static func position(of sought: [UInt8], in bytes: [UInt8]) -> Int? {
        guard bytes.count >= sought.count else { return nil }
        for start in 0...(bytes.count - sought.count)
        where bytes[start] == sought[0] && bytes[start..<(start + sought.count)].elementsEqual(sought) {
            return start + sought.count
        }
        return nil
    }
}
