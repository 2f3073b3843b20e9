// SPDX-License-Identifier: Apache-2.0
import CLinux
import NativeSystem

/// A watched descriptor of one loop; spent once it was deregistered, and harmless from then on.
package struct Registration: Sendable, Hashable {
    package let descriptor: Int32
    let key: UInt64
}

/// The epoll instance of a loop, with the handler of each watched descriptor (epoll(7), level-triggered).
///
/// A slot's key carries a generation: an event of a descriptor that left within the same batch finds nobody, even when
/// a new descriptor took its slot meanwhile.
@safe struct Poller: ~Copyable {
    typealias Handler = (Readiness) -> Void

    private struct Slot {
        var generation: UInt32
        var handler: Handler?
    }

    /// The key of the wake-up descriptor, which no slot can have.
    private static let wakeKey = UInt64.max

    private let epoll: Int32
    private var slots: [Slot] = []
    private var free: [Int] = []
    private var events: UnsafeMutableBufferPointer<epoll_event>

    /// Owns `epoll` from here on.
    private init(owning epoll: Int32) {
        self.epoll = epoll
        unsafe events = .allocate(capacity: 64)
    }

    /// Watches `wake` edge-triggered, so that its counter never needs to be read.
    static func open(wake: Int32) throws(SystemCallError) -> Poller {
        let descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { throw .last("epoll_create1") }
        let poller = Poller(owning: descriptor)
        let code = control(descriptor, EPOLL_CTL_ADD, wake, EPOLLIN.rawValue | EPOLLET.rawValue, wakeKey)
        guard code == 0 else { throw .last("epoll_ctl") }
        return poller
    }

    deinit {
        close(epoll)
        unsafe events.deallocate()
    }

    mutating func add(_ descriptor: Int32, _ interest: Interest, _ handler: @escaping Handler)
        throws(SystemCallError) -> Registration
    {
        let index = free.popLast() ?? slots.count
        if index == slots.count { slots.append(Slot(generation: 0, handler: nil)) }
        let key = UInt64(slots[index].generation) << 32 | UInt64(index)
        guard Poller.control(epoll, EPOLL_CTL_ADD, descriptor, interest.rawValue, key) == 0 else {
            let error = SystemCallError.last("epoll_ctl")
            free.append(index)
            throw error
        }
        slots[index].handler = handler
        return Registration(descriptor: descriptor, key: key)
    }

    func change(_ registration: Registration, _ interest: Interest) throws(SystemCallError) {
        guard isWatched(registration.key) else { return }
        let code = Poller.control(
            epoll, EPOLL_CTL_MOD, registration.descriptor, interest.rawValue, registration.key)
        guard code == 0 else { throw .last("epoll_ctl") }
    }

    /// Forgets the descriptor; one that was closed before has left epoll by itself.
    mutating func remove(_ registration: Registration) {
        guard isWatched(registration.key) else { return }
        _ = Poller.control(epoll, EPOLL_CTL_DEL, registration.descriptor, 0, registration.key)
        let index = Int(registration.key & 0xFFFF_FFFF)
        slots[index].handler = nil
        slots[index].generation &+= 1
        free.append(index)
    }

    /// Lets go of what the handlers hold, the loop perhaps.
    mutating func forgetHandlers() {
        slots = []
        free = []
    }

    /// How many events are there after at most `milliseconds` (-1: as long as it takes).
    ///
    /// There is room for an event of every descriptor, so one call sees everything that is ready: timers rely on it.
    mutating func wait(milliseconds: Int32) -> Int {
        if unsafe events.count <= slots.count {
            unsafe events.deallocate()
            unsafe events = .allocate(capacity: slots.count * 2)
        }
        return unsafe Int(max(0, epoll_wait(epoll, events.baseAddress, Int32(events.count), milliseconds)))
    }

    /// The event at `index` of the last wait: its handler, nil where its descriptor has left since or for the wake-up.
    func event(at index: Int) -> (handler: Handler?, readiness: Readiness, isWake: Bool) {
        let event = unsafe events[index]
        let key = unsafe event.data.u64
        guard isWatched(key) else { return (nil, [], key == Poller.wakeKey) }
        return unsafe (slots[Int(key & 0xFFFF_FFFF)].handler, Readiness(rawValue: event.events), false)
    }

    private func isWatched(_ key: UInt64) -> Bool {
        let index = Int(key & 0xFFFF_FFFF)
        return key != Poller.wakeKey && index < slots.count && slots[index].handler != nil
            && slots[index].generation == UInt32(truncatingIfNeeded: key >> 32)
    }

    private static func control(
        _ epoll: Int32, _ operation: Int32, _ descriptor: Int32, _ events: UInt32, _ key: UInt64
    ) -> Int32 {
        var event = unsafe epoll_event(events: events, data: epoll_data_t(u64: key))
        return unsafe epoll_ctl(epoll, operation, descriptor, &event)
    }
}
