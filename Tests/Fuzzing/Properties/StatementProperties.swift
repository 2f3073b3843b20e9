// SPDX-License-Identifier: Apache-2.0
import Consents

/// What holds for every text of a provider that may be shown, logged or kept (contract, section 2).
enum StatementProperties {
    /// The values of the request that the fuzzed answers belong to: a code and a client secret.
    static let sent = ["EBYhRW3n+iv/udQn8=&%é", "s3cr3t-of-the-client"]
        .map(SecretText.init)

    /// `sent` in clear, percent-encoded, form-encoded, and in base64 of both alphabets.
    private static let spellings: [[UInt8]] = sent.flatMap { secret -> [[UInt8]] in
        let clear = Array(secret.reveal().utf8)
        let base64 = Spelling.base64(clear)
        let urlSafe = base64.map { $0 == 0x2B ? 0x2D : $0 == 0x2F ? 0x5F : $0 }
        return [
            clear, Spelling.percentEncoded(clear, keeping: "-._~"), Spelling.percentEncoded(clear, keeping: "*-._"),
            base64, urlSafe,
        ]
    }

    static func check(_ statement: ProviderStatement, _ status: Int, _ breaches: inout Breaches) {
        breaches.expect(statement.status == status, "the statement has another status")
        for text in [statement.error, statement.errorDescription, statement.correlationID].compactMap(\.self) {
            breaches.expect(text.unicodeScalars.count <= 200, "a statement is longer than 200 characters")
            breaches.expect(
                !text.unicodeScalars.contains { $0.properties.generalCategory == .control },
                "a statement holds a control character")
            let bytes = Array(text.utf8)
            for (index, spelling) in spellings.enumerated() where Spelling.contains(bytes, spelling) {
                breaches.expect(false, "a statement holds a value that was sent (spelling \(index)): \(text)")
            }
        }
    }
}

/// Encodings written again, so that the house's own are not measured with themselves.
enum Spelling {
    static func percentEncoded(_ bytes: some Sequence<UInt8>, keeping others: String) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return bytes.flatMap { byte -> [UInt8] in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: [byte]
            case _ where others.utf8.contains(byte): [byte]
            default: [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
    }

    /// Without padding, the last group whole only: what is behind it depends on what follows.
    static func base64(_ bytes: [UInt8]) -> [UInt8] {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        return stride(from: 0, to: bytes.count - bytes.count % 3, by: 3).flatMap { start -> [UInt8] in
            let group = bytes[start..<(start + 3)].reduce(0) { $0 << 8 | Int($1) }
            return [18, 12, 6, 0].map { alphabet[group >> $0 & 63] }
        }
    }

    static func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
        guard let first = part.first, text.count >= part.count else { return false }
        return (0...(text.count - part.count)).contains { text[$0] == first && text[$0...].starts(with: part) }
    }
}
