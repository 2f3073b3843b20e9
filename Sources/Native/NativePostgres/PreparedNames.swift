// SPDX-License-Identifier: Apache-2.0
/// The statements that a connection has prepared, by the query objects and the types of their parameters.
struct PreparedNames {
    struct Variant {
        let number: Int
        let name: String
        var types: [PostgresType]
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
        change(number, query) { $0.isSure = true }
    }

    /// Takes note of the types that were left to the server, so that a NULL in their place fits no less than a value.
    mutating func learn(_ types: [PostgresType], of number: Int, _ query: PostgresQuery) {
        change(number, query) { if types.count == $0.types.count { $0.types = types } }
    }

    private mutating func change(_ number: Int, _ query: PostgresQuery, _ body: (inout Variant) -> Void) {
        guard let index = variants[ObjectIdentifier(query)]?.known.firstIndex(where: { $0.number == number }),
            var entry = variants[ObjectIdentifier(query)]
        else { return }
        body(&entry.known[index])
        variants[ObjectIdentifier(query)] = entry
    }

    /// After a failure nobody knows of the others whether they were prepared; their names are not used again.
    mutating func forgetUnsure() {
        for key in Array(variants.keys) { variants[key]?.known.removeAll { !$0.isSure } }
    }

    mutating func forgetAll() { variants.removeAll() }
}
