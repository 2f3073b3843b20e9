// SPDX-License-Identifier: Apache-2.0

/// What a person granted a client: the tokens of one redeemed code and of all its refreshes, a *family*.
struct Grant: Sendable {
    struct AccessToken: Sendable {
        let text: String
        /// Milliseconds since 1970 at which it stops to work.
        let end: Int64
    }

    let person: Person
    let scopes: [String]
    let clientID: String
    /// The fault that the code asked for.
    let fault: Fault?
    /// Milliseconds since 1970.
    let openedAt: Int64
    /// The newest are kept; older ones work no more.
    var accessTokens: [AccessToken] = []
    var refreshToken: String
    /// The token that `refreshToken` replaced.
    var previousRefreshToken: String?
    /// Milliseconds since 1970 of the last rotation.
    var rotatedAt: Int64 = 0
    var isRevoked = false
}

/// The texts of tokens: a letter code, the number of the grant in hexadecimal, 192 random bits.
///
/// The number makes every lookup one step, and a token of a family that has rotated on is still known as such.
enum TokenText {
    static let accessPrefix = "A21AA"
    static let refreshPrefix = "R23AA"
    private static let digits = Array("0123456789abcdef".utf8)
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    static func make(_ prefix: String, grant: UInt64, _ random: inout some RandomNumberGenerator) -> String {
        var bytes = Array(prefix.utf8)
        for shift in stride(from: 36, through: 0, by: -4) { bytes.append(digits[Int(grant >> UInt64(shift) & 15)]) }
        append(words: 3, to: &bytes, &random)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A text of 32 letters, digits, `-` and `_`.
    static func random(_ random: inout some RandomNumberGenerator) -> String {
        var bytes: [UInt8] = []
        append(words: 3, to: &bytes, &random)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The grant of an access or a refresh token.
    static func grant(of text: String) -> UInt64? {
        grant(of: text, prefix: refreshPrefix) ?? grant(of: text, prefix: accessPrefix)
    }

    /// The token without what the fault `long_tokens` puts behind a dot.
    static func core(of text: String) -> String { String(text.prefix { $0 != "." }) }

    /// The grant that the token belongs to if it is one of ours.
    static func grant(of text: String, prefix: String) -> UInt64? {
        let bytes = Array(text.utf8.prefix(15))
        guard bytes.count == 15, bytes.starts(with: prefix.utf8) else { return nil }
        return UInt64(String(decoding: bytes[5...], as: UTF8.self), radix: 16)
    }

    /// Ten letters of six bits from each 64 random ones, and the four bits left over of each in the last letters.
    private static func append(words: Int, to bytes: inout [UInt8], _ random: inout some RandomNumberGenerator) {
        var rest: UInt64 = 0
        for _ in 0..<words {
            var word = random.next()
            for _ in 0..<10 {
                bytes.append(alphabet[Int(word & 63)])
                word >>= 6
            }
            rest = rest << 4 | word
        }
        for _ in 0..<(words * 4 / 6) {
            bytes.append(alphabet[Int(rest & 63)])
            rest >>= 6
        }
    }
}
