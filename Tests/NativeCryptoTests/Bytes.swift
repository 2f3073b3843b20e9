// SPDX-License-Identifier: Apache-2.0

/// The bytes that hexadecimal digits spell, as the published vectors are written.
func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = hexadecimal.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
}
