// SPDX-License-Identifier: Apache-2.0
import CLinux

/// A thread of our own that runs one body and can be waited for.
///
/// It never receives the process's signals: another thread waits for those.
package struct NamedThread: ~Copyable, Sendable {
    private let thread: pthread_t

    /// Starts the thread.
    /// - Parameter name: what debuggers and `top -H` show; cut to 15 bytes.
    /// - Throws: the `errno` of pthread_create(3).
    package init(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemCallError) {
        var thread = pthread_t()
        let box = unsafe Unmanaged.passRetained(NamedThreadBody(name: name, run: body))
        let code = unsafe pthread_create(&thread, nil, runNamedThread, box.toOpaque())
        guard code == 0 else {
            unsafe box.release()
            throw SystemCallError("pthread_create", code: code)
        }
        self.thread = thread
    }

    /// Waits until the body has returned. Never from the thread itself.
    package consuming func join() {
        _ = pthread_join(thread, nil)
    }
}

private final class NamedThreadBody: Sendable {
    let name: String
    let run: @Sendable () -> Void

    init(name: String, run: @escaping @Sendable () -> Void) {
        self.name = name
        self.run = run
    }
}

private func runNamedThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    let body = unsafe Unmanaged<NamedThreadBody>.fromOpaque(argument).takeRetainedValue()
    unsafe clinux_begin_thread(String(body.name.prefix(15)), argument)
    body.run()
    return nil
}
