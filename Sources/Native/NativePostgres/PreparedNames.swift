// SPDX-License-Identifier: Apache-2.0
/// The statements that a connection has prepared, by the query objects and the types of their parameters.
struct PreparedNames {
    struct Variant {
        let number: Int
        let name: String
        let types: [PostgresType]
        /// The server has said so.
        var isSure = false
    }

    // The query is kept too: its identity must not come back for another text.
    private var variants: [ObjectIdentifier: (query: PostgresQuery, known: [Variant])] = [:]
    private var count = 0

    /// The name of a statement that takes parameters of these types.
    func variant(of query: PostgresQuery, _ types: [PostgresType]) -> Variant? {
        variants[ObjectIdentifier(query)]?.known.first { variant in
            zip(variant.types, types).allSatisfy { $0 == $1 || $1 == .unknown }
        }
    }

    /// A name that no statement had yet.
    mutating func add(_ query: PostgresQuery, _ types: [PostgresType]) -> Variant {
        count += 1
        let variant = Variant(number: count, name: "q\(count)", types: types)
        variants[ObjectIdentifier(query), default: (query, [])].known.append(variant)
        return variant
    }

    mutating func makeSure(of number: Int, _ query: PostgresQuery) {
        guard var entry = variants[ObjectIdentifier(query)],
            let index = entry.known.firstIndex(where: { $0.number == number })
        else { return }
        entry.known[index].isSure = true
        variants[ObjectIdentifier(query)] = entry
    }

    /// After a failure nobody knows of the others whether they were prepared; their names are not used again.
    mutating func forgetUnsure() {
        for key in Array(variants.keys) { variants[key]?.known.removeAll { !$0.isSure } }
    }

    mutating func forgetAll() { variants.removeAll() }
}
