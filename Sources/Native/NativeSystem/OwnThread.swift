// SPDX-License-Identifier: Apache-2.0
internal import CLinux
internal import Glibc

/// Runs `body` on a new thread that ends with it; nobody waits for the thread's end.
///
/// The process's signals are kept off it (`SIGHUP`, `SIGINT`, `SIGPIPE`, `SIGTERM`, `SIGUSR1`, `SIGUSR2`).
/// - Parameter name: what the kernel calls it; 15 bytes are kept.
/// - Throws: `SystemCallError` where no thread can be had.
package func startThread(named name: String, _ body: @escaping @Sendable () -> Void) throws(SystemCallError) {
    let box = unsafe Unmanaged.passRetained(ThreadBody(name: name, run: body))
    var thread = pthread_t()
    let code = unsafe pthread_create(&thread, nil, runThreadBody, box.toOpaque())
    guard code == 0 else {
        unsafe box.release()
        throw SystemCallError("pthread_create", code: code)
    }
    pthread_detach(thread)
}

private final class ThreadBody {
    let name: String
    let run: @Sendable () -> Void

    init(name: String, run: @escaping @Sendable () -> Void) {
        self.name = String(decoding: name.utf8.prefix(15), as: UTF8.self)
        self.run = run
    }
}

private func runThreadBody(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    let body = unsafe Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue()
    unsafe clinux_begin_thread(body.name, argument)
    body.run()
    return nil
}
