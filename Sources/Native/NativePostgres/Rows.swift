// SPDX-License-Identifier: Apache-2.0
internal import CPostgres

/// The one owner of a `PGresult`, its columns in binary.
@safe final class Rows {
    let handle: OpaquePointer

    init(owning handle: OpaquePointer) { unsafe self.handle = handle }

    deinit { unsafe PQclear(handle) }

    var count: Int { unsafe Int(PQntuples(handle)) }

    /// How many rows the statement has written.
    var changes: Int { unsafe Int(String(cString: PQcmdTuples(handle))) ?? 0 }

    /// Of a prepared statement that was described.
    var parameterTypes: [PostgresType] {
        (0..<(unsafe PQnparams(handle))).map { unsafe PostgresType(oid: PQparamtype(handle, $0)) }
    }

    func isNull(_ row: Int, _ column: Int32) -> Bool { unsafe PQgetisnull(handle, Int32(row), column) == 1 }

    func bytes(_ row: Int, _ column: Int32) -> UnsafeRawBufferPointer {
        guard let start = unsafe PQgetvalue(handle, Int32(row), column) else {
            return unsafe UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return unsafe UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(handle, Int32(row), column)))
    }

    /// A whole number of any of the server's types; 0 for what is none.
    func integer(_ row: Int, _ column: Int32) -> Int64 {
        let bytes = unsafe bytes(row, column)
        switch unsafe PQftype(handle, column) {
        case 16, 20, 21, 23:  // boolean, bigint, smallint, integer
            guard let first = unsafe bytes.first else { return 0 }
            let sign: UInt64 = first & 0x80 == 0 ? 0 : .max
            return unsafe Int64(bitPattern: bytes.reduce(sign) { $0 << 8 | UInt64($1) })
        case 1700: return unsafe wholeNumber(numeric: bytes)
        default: return 0
        }
    }
}

/// A `numeric` without what stands behind its point, as sums of `bigint` are: digits to the base 10,000
/// (utils/adt/numeric.c, numeric_send); 0 for one beyond 64 bits.
private func wholeNumber(numeric bytes: UnsafeRawBufferPointer) -> Int64 {
    func word(_ index: Int) -> Int { unsafe Int(bytes[2 * index]) << 8 | Int(bytes[2 * index + 1]) }
    guard bytes.count >= 8, bytes.count == 8 + 2 * word(0) else { return 0 }
    let weight = Int(Int16(truncatingIfNeeded: word(1)))
    let sign: Int64 = word(2) == 0x4000 ? -1 : 1
    guard weight >= 0, weight < 5 else { return 0 }
    var number: Int64 = 0
    for index in 0...weight {
        let digit = index < word(0) ? word(4 + index) : 0
        let (shifted, isTooLong) = number.multipliedReportingOverflow(by: 10_000)
        let (sum, isTooLarge) = shifted.addingReportingOverflow(sign * Int64(digit))
        if isTooLong || isTooLarge { return 0 }
        number = sum
    }
    return number
}
