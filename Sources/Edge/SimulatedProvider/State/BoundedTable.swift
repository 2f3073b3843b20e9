// SPDX-License-Identifier: Apache-2.0

/// Values by key of which only the newest are kept: one too many drives out the oldest. O(1), amortised.
struct BoundedTable<Value: Sendable>: Sendable {
    let capacity: Int
    private var values: [String: Value] = [:]
    /// Keys from old to new; those before `start` have been driven out.
    private var order: [String] = []
    private var start = 0

    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    subscript(key: String) -> Value? { values[key] }

    /// Puts a value in, as the newest where the key is new; else in the place that the key has.
    mutating func put(_ key: String, _ value: Value) {
        guard values.updateValue(value, forKey: key) == nil else { return }
        order.append(key)
        if values.count > capacity {
            values[order[start]] = nil
            start += 1
        }
        if start > 1024, start * 2 > order.count {
            order.removeFirst(start)
            start = 0
        }
    }

    var count: Int { values.count }

    /// The newest `limit` entries, from new to old.
    func newest(_ limit: Int) -> [(key: String, value: Value)] {
        order[start...].reversed().prefix(limit).compactMap { key in values[key].map { (key, $0) } }
    }
}
