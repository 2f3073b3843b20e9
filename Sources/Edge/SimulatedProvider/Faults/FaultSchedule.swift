// SPDX-License-Identifier: Apache-2.0

/// The faults that are set for everybody; the first that strikes a place has it.
struct FaultSchedule: Sendable {
    private struct Entry: Sendable {
        let fault: Fault
        /// How often it still strikes; nil for ever.
        var remaining: Int?
    }

    private var entries: [Entry] = []

    mutating func add(_ fault: Fault, times: Int?) {
        guard times.map({ $0 > 0 }) ?? true, entries.count < 100 else { return }
        entries.append(Entry(fault: fault, remaining: times))
    }

    mutating func clear() { entries = [] }

    /// The fault that strikes here now; one that has struck often enough is gone then.
    mutating func take(at place: FaultPlace) -> Fault? {
        guard let index = entries.firstIndex(where: { $0.fault.places.contains(place) }) else { return nil }
        let fault = entries[index].fault
        if let remaining = entries[index].remaining {
            entries[index].remaining = remaining - 1
            if remaining <= 1 { entries.remove(at: index) }
        }
        return fault
    }

    /// What is set, with the times left.
    var list: [(fault: Fault, remaining: Int?)] { entries.map { ($0.fault, $0.remaining) } }
}
