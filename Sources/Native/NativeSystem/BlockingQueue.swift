// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A bounded queue between threads: anybody puts in without waiting, a thread of our own waits and takes out.
///
/// Unchecked because the compiler cannot see that the mutex guards the elements.
@safe package final class BlockingQueue<Element: Sendable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    /// Signalled once; those who wait for it take no other's signal.
    private let closing: UnsafeMutablePointer<pthread_cond_t>
    private var elements: [Element] = []
    private var isClosed = false

    package init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe closing = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe condition.initialize(to: pthread_cond_t())
        var byMonotonicClock = pthread_condattr_t()
        let ready = unsafe (
            pthread_condattr_init(&byMonotonicClock), pthread_condattr_setclock(&byMonotonicClock, CLOCK_MONOTONIC)
        )
        defer { unsafe pthread_condattr_destroy(&byMonotonicClock) }
        let codes = unsafe (
            pthread_mutex_init(mutex, nil), pthread_cond_init(condition, nil),
            pthread_cond_init(closing, &byMonotonicClock)
        )
        precondition(ready == (0, 0) && codes == (0, 0, 0), "a queue could not be made")
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_cond_destroy(closing)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe closing.deallocate()
        unsafe mutex.deallocate()
    }

    /// Puts an element at the end.
    /// - Returns: false where `limit` elements wait already, or the queue is closed; then nothing was put in.
    package func offer(_ element: Element, limit: Int) -> Bool {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        guard !isClosed, elements.count < limit else { return false }
        elements.append(element)
        unsafe pthread_cond_signal(condition)
        return true
    }

    /// Up to `limit` elements, first to last, waiting for the first; nil once the queue is closed and empty.
    /// - Parameter pause: how long the thread sleeps before it looks, so that more may have come; zero for not at all.
    package func take(upTo limit: Int, after pause: Duration = .zero) -> [Element]? {
        // Nobody wakes it meanwhile: that spares the others a call of the kernel for each element.
        if pause > .zero { usleep(UInt32(clamping: pause.components.attoseconds / 1_000_000_000_000)) }
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while elements.isEmpty {
            if isClosed { return nil }
            unsafe pthread_cond_wait(condition, mutex)
        }
        return remove(upTo: limit)
    }

    /// All that waits now.
    package func takeAll() -> [Element] {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return remove(upTo: .max)
    }

    /// Takes nothing more in; what waits is still taken out.
    package func close() {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        isClosed = true
        unsafe pthread_cond_broadcast(condition)
        unsafe pthread_cond_broadcast(closing)
    }

    package var isClosedAndEmpty: Bool {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return isClosed && elements.isEmpty
    }

    /// Waits until the queue is closed, whatever is put in meanwhile, or the time is over.
    /// - Returns: whether it is closed.
    package func waitForClose(upTo time: Duration) -> Bool {
        var end = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &end)
        let (seconds, attoseconds) = time.components
        let nanoseconds = end.tv_nsec + Int(attoseconds / 1_000_000_000)
        end.tv_sec += Int(seconds) + nanoseconds / 1_000_000_000
        end.tv_nsec = nanoseconds % 1_000_000_000
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while !isClosed {
            if unsafe pthread_cond_timedwait(closing, mutex, &end) != 0 { break }
        }
        return isClosed
    }

    private func remove(upTo limit: Int) -> [Element] {
        if elements.count <= limit {
            defer { elements.removeAll() }
            return elements
        }
        defer { elements.removeFirst(limit) }
        return Array(elements.prefix(limit))
    }
}
