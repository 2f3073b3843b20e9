// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A bounded queue between threads: anybody puts in without waiting, a thread of our own waits and takes out.
///
/// Unchecked because the compiler cannot see that the mutex guards the elements.
@safe package final class BlockingQueue<Element: Sendable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var elements: [Element] = []
    private var isClosed = false

    package init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe condition.initialize(to: pthread_cond_t())
        let codes = unsafe (pthread_mutex_init(mutex, nil), pthread_cond_init(condition, nil))
        precondition(codes == (0, 0), "a queue could not be made")
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
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
