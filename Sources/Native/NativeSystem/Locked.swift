// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A value that one thread at a time may touch, behind a pthread mutex.
///
/// `Synchronization.Mutex` would do, but the thread sanitizer does not see it and reports races that are none.
/// Unchecked because the compiler cannot see that the mutex guards the storage.
@safe package final class Locked<Value: ~Copyable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let storage: UnsafeMutablePointer<Value>

    package init(_ value: consuming sending Value) {
        unsafe mutex = .allocate(capacity: 1)
        unsafe storage = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe storage.initialize(to: value)
        let code = unsafe pthread_mutex_init(mutex, nil)
        precondition(code == 0, "a mutex could not be made")
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe storage.deinitialize(count: 1)
        unsafe storage.deallocate()
        unsafe mutex.deinitialize(count: 1)
        unsafe mutex.deallocate()
    }

    /// What `body` returns, run while this thread holds the lock; never ask for the same lock inside it.
    package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try unsafe body(&storage.pointee)
    }
}
