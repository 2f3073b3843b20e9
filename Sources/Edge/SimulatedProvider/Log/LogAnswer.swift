// SPDX-License-Identifier: Apache-2.0
import NativeCrypto
import NativeJSON

extension CallLog {
    /// The counts as JSON; codes and refresh tokens stand there by the SHA-256 of their text, the newest `limit` of each.
    func json(limit: Int) -> JSONValue {
        var calls = JSONValue.object()
        for (name, count) in counts.sorted(by: { $0.key < $1.key }) { calls.set(name, count) }
        return [
            "calls": calls, "codes_sent_twice": JSONValue(Int64(codesSentTwice)),
            "refresh_tokens_sent_twice": JSONValue(Int64(refreshTokensSentTwice)),
            "codes_known": JSONValue(Int64(codes.count)), "refresh_tokens_known": JSONValue(Int64(refreshTokens.count)),
            "codes": Self.list(codes.newest(limit)), "refresh_tokens": Self.list(refreshTokens.newest(limit)),
        ]
    }

    private static func list(_ entries: [(key: String, value: Sendings)]) -> JSONValue {
        .array(
            entries.map { text, sendings in
                [
                    "sha256": JSONValue(hexadecimal(sha256(text))), "sent": JSONValue(Int64(sendings.sent)),
                    "taken": JSONValue(Int64(sendings.taken)),
                ]
            })
    }
}

/// Two lower-case digits a byte.
func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    return String(decoding: text, as: UTF8.self)
}
