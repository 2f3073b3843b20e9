// SPDX-License-Identifier: Apache-2.0
/// The parameters of one statement as libpq takes them, in binary; used again for each statement of a connection.
@safe final class Parameters {
    /// All values one behind the other; never empty, so that each value has an address.
    private var bytes: [UInt8] = [0]
    /// Where each value begins in `bytes`; -1 for NULL.
    private var starts: [Int] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []
    private var pointers: [UnsafePointer<CChar>?] = unsafe []
    private(set) var types: [PostgresType] = []

    /// Takes the values in the place of those before.
    /// - Throws: `.value` for a text with U+0000.
    func take(_ values: [any PostgresBindable]) throws(PostgresError) {
        bytes.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
        lengths.removeAll(keepingCapacity: true)
        types.removeAll(keepingCapacity: true)
        for value in values { try append(value.postgresValue) }
        bytes.append(0)
        if formats.count < values.count { formats = Array(repeating: 1, count: values.count) }
    }

    private func append(_ value: PostgresValue) throws(PostgresError) {
        let start = bytes.count
        types.append(value.type)
        switch value {
        case .null:
            starts.append(-1)
            lengths.append(0)
            return
        case .integer(let number): append(bigEndian: UInt64(bitPattern: number))
        case .text(let text):
            bytes.append(contentsOf: text.utf8)
            if bytes[start...].contains(0) { throw PostgresError(.value, detail: "a text with U+0000") }
        case .bytes(let blob): bytes.append(contentsOf: blob)
        case .words(let high, let low):
            append(bigEndian: high)
            append(bigEndian: low)
        }
        starts.append(start)
        lengths.append(Int32(bytes.count - start))
    }

    private func append(bigEndian word: UInt64) {
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
        }
    }

    var count: Int { starts.count }

    /// Calls `body` with the arrays that `PQsendQueryPrepared` wants; it copies the values.
    func withArrays<Result>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> Result
    ) -> Result {
        unsafe pointers.removeAll(keepingCapacity: true)
        return unsafe bytes.withUnsafeBytes { all in
            let base = unsafe all.baseAddress?.assumingMemoryBound(to: CChar.self)
            for start in starts { unsafe pointers.append(start < 0 ? nil : base.map { unsafe $0 + start }) }
            return unsafe pointers.withUnsafeBufferPointer { places in
                unsafe lengths.withUnsafeBufferPointer { lengths in
                    unsafe formats.withUnsafeBufferPointer { formats in
                        unsafe body(places.baseAddress, lengths.baseAddress, formats.baseAddress)
                    }
                }
            }
        }
    }
}
