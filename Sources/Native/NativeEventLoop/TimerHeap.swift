// SPDX-License-Identifier: Apache-2.0
import NativeSystem

/// One timer of one loop; spent once the timer has fired or was cancelled, and harmless from then on.
package struct TimerToken: Sendable, Hashable {
    let slot: Int
    let generation: UInt32
}

/// The timers of a loop, the earliest on top; equal deadlines fire in the order in which they were set.
///
/// A binary heap of slot numbers, each slot knowing its place, so that a cancelled timer leaves at once: a request
/// sets and cancels several, and dead entries of long timers would pile up. O(log n) to insert and to remove.
struct TimerHeap {
    private struct Slot {
        var deadline: MonotonicInstant
        var sequence: UInt64
        var generation: UInt32
        /// Its index in `order`, or -1 while the slot is free.
        var place: Int
        var body: (() -> Void)?
    }

    private var slots: [Slot] = []
    private var free: [Int] = []
    private var order: [Int] = []
    private var sequence: UInt64 = 0

    var earliest: MonotonicInstant? {
        order.first.map { slots[$0].deadline }
    }

    mutating func insert(at deadline: MonotonicInstant, _ body: @escaping () -> Void) -> TimerToken {
        sequence += 1
        let slot = free.popLast() ?? slots.count
        if slot == slots.count {
            slots.append(Slot(deadline: deadline, sequence: sequence, generation: 0, place: -1, body: body))
        } else {
            slots[slot].deadline = deadline
            slots[slot].sequence = sequence
            slots[slot].body = body
        }
        slots[slot].place = order.count
        order.append(slot)
        siftUp(order.count - 1)
        return TimerToken(slot: slot, generation: slots[slot].generation)
    }

    /// Takes the timer out; false where it is spent already.
    mutating func remove(_ token: TimerToken) -> Bool {
        guard token.slot < slots.count, slots[token.slot].generation == token.generation,
            slots[token.slot].place >= 0
        else { return false }
        _ = take(at: slots[token.slot].place)
        return true
    }

    /// The body of the earliest timer, taken out, if its deadline is `now` or before and it was set before the
    /// timer numbered `limit`: a timer that sets another one at once must not keep the loop to itself.
    mutating func popDue(by now: MonotonicInstant, setBefore limit: UInt64) -> (() -> Void)? {
        guard let top = order.first, slots[top].deadline <= now, slots[top].sequence < limit else { return nil }
        return take(at: 0)
    }

    /// The number that the next timer will get.
    var nextSequence: UInt64 { sequence + 1 }

    private mutating func take(at place: Int) -> (() -> Void)? {
        let slot = order[place]
        let last = order.count - 1
        if place != last { exchange(place, last) }
        order.removeLast()
        if place != last {
            siftDown(place)
            siftUp(place)
        }
        let body = slots[slot].body
        slots[slot].body = nil
        slots[slot].place = -1
        slots[slot].generation &+= 1
        free.append(slot)
        return body
    }

    private func precedes(_ left: Int, _ right: Int) -> Bool {
        let (one, other) = (order[left], order[right])
        guard slots[one].deadline == slots[other].deadline else { return slots[one].deadline < slots[other].deadline }
        return slots[one].sequence < slots[other].sequence
    }

    private mutating func exchange(_ left: Int, _ right: Int) {
        order.swapAt(left, right)
        slots[order[left]].place = left
        slots[order[right]].place = right
    }

    private mutating func siftUp(_ start: Int) {
        var place = start
        while place > 0, precedes(place, (place - 1) / 2) {
            exchange(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    private mutating func siftDown(_ start: Int) {
        var place = start
        while true {
            var first = place
            let left = 2 * place + 1
            for child in left..<max(left, min(left + 2, order.count)) where precedes(child, first) {
                first = child
            }
            guard first != place else { return }
            exchange(place, first)
            place = first
        }
    }
}
