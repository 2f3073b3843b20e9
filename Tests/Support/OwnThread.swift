// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What `body` returns, run on a thread made for it, so that it may block without holding up the tests' own threads.
package func onOwnThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        let box = Unmanaged.passRetained(ThreadBody { continuation.resume(with: Result(catching: body)) })
        var thread = pthread_t()
        let code = pthread_create(&thread, nil, runThreadBody, box.toOpaque())
        precondition(code == 0, "a test's thread could not be made")
        pthread_detach(thread)
    }
}

private final class ThreadBody {
    let run: () -> Void

    init(_ run: @escaping () -> Void) {
        self.run = run
    }
}

private func runThreadBody(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
    return nil
}
