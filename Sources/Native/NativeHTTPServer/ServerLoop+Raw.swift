// SPDX-License-Identifier: Apache-2.0
import CMicrohttpd
import NativeEventLoop
import NativeSystem

// Answers past the library: it lets go of the connection, the bytes are written, and it is told to close.
extension ServerLoop {
    /// Begins to send; the library is asked again at the end, and then closes.
    func play(_ answer: RawAnswer, on connection: HTTPConnection) -> MHD_Result {
        guard let handle = unsafe connection.handle, !connection.isTLS, !isStopping else { return .NO }
        connection.isPlaying = true
        connection.isSuspended = true
        unsafe MHD_suspend_connection(handle)
        Task(executorPreference: loop) { [self] in
            await send(answer, over: connection)
            precondition(loop.isCurrent, "an answer past the library stays on its connection's loop")
            resume(connection)
        }
        return .YES
    }

    private func send(_ answer: RawAnswer, over connection: HTTPConnection) async {
        let deadline = MonotonicInstant.now().advanced(by: limits.idleTimeout + answer.pauses)
        for step in answer.steps {
            switch step {
            case .bytes(let bytes): guard await send(bytes, over: connection, until: deadline) else { return }
            case .wait(let pause): guard await wait(pause) else { return }
            case .drip(let bytes, let pause):
                for byte in bytes {
                    guard await send([byte], over: connection, until: deadline), await wait(pause) else { return }
                }
            case .endless(let bytes):
                while await send(bytes, over: connection, until: deadline) {}
                return
            }
        }
        if answer.end == .reset, unsafe connection.handle != nil { connection.socket.reset() }
    }

    /// False where the peer or the connection has gone, or the time is over.
    private func send(_ bytes: [UInt8], over connection: HTTPConnection, until deadline: MonotonicInstant) async -> Bool
    {
        var rest = bytes[...]
        while !rest.isEmpty {
            // The library closes the descriptor, and another connection may have it then.
            guard unsafe connection.handle != nil, MonotonicInstant.now() < deadline,
                let count = connection.socket.sendPart(rest)
            else { return false }
            rest = rest.dropFirst(count)
            if !rest.isEmpty, await !wait(.milliseconds(1)) { return false }
        }
        // An answer without an end leaves the loop to others, too.
        await Task.yield()
        return unsafe connection.handle != nil && MonotonicInstant.now() < deadline
    }

    /// False where the loop has stopped.
    private func wait(_ pause: Duration) async -> Bool {
        do {
            try await loop.sleep(until: .now().advanced(by: pause))
            return true
        } catch { return false }
    }
}
