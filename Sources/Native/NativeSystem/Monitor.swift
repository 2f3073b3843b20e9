// SPDX-License-Identifier: Apache-2.0
internal import CLinux
import Glibc

/// A value that one thread at a time may touch, and whose changes a thread may wait for (pthread_cond_wait(3)).
///
/// For threads of our own only: never wait on an event loop. Unchecked because the compiler cannot see that the mutex
/// guards the storage.
@safe package final class Monitor<Value: Sendable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>
    private var value: Value

    package init(_ value: Value) {
        self.value = value
        unsafe mutex = .allocate(capacity: 1)
        unsafe changed = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe changed.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        let codes = unsafe [
            pthread_mutex_init(mutex, nil), pthread_condattr_init(&attributes),
            pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC), pthread_cond_init(changed, &attributes),
            pthread_condattr_destroy(&attributes),
        ]
        precondition(codes.allSatisfy { $0 == 0 }, "a monitor could not be made")
    }

    deinit {
        unsafe pthread_cond_destroy(changed)
        unsafe pthread_mutex_destroy(mutex)
        unsafe changed.deallocate()
        unsafe mutex.deallocate()
    }

    /// What `body` returns, run while this thread holds the value; wakes whoever waits for a change.
    package func change<Result>(_ body: (inout Value) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        let result = body(&value)
        unsafe pthread_cond_broadcast(changed)
        return result
    }

    /// The first answer of `condition` that is not nil; it is asked now and after each change, and may change the
    /// value itself.
    /// - Returns: nil when the deadline passed first; without one it waits for ever.
    package func wait<Result>(
        until deadline: MonotonicInstant?, for condition: (inout Value) -> Result?
    ) -> Result? {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = condition(&value) {
                unsafe pthread_cond_broadcast(changed)
                return result
            }
            guard let deadline else {
                unsafe pthread_cond_wait(changed, mutex)
                continue
            }
            guard MonotonicInstant.now() < deadline else { return nil }
            var time = timespec(
                tv_sec: Int(deadline.nanoseconds / 1_000_000_000), tv_nsec: Int(deadline.nanoseconds % 1_000_000_000))
            _ = unsafe pthread_cond_timedwait(changed, mutex, &time)
        }
    }
}
