// SPDX-License-Identifier: Apache-2.0
internal import CPostgres
internal import Glibc

/// Reaches into a connection from another thread, to end what it waits for.
@safe package final class PostgresInterrupter: @unchecked Sendable {
    // Both are made once and not changed: `PQcancel` may be called from any thread, and the descriptor is our own copy.
    private let request: OpaquePointer?
    private let socket: Int32

    init(_ handle: OpaquePointer) {
        unsafe request = PQgetCancel(handle)
        socket = unsafe fcntl(PQsocket(handle), F_DUPFD_CLOEXEC, 3)
    }

    deinit {
        unsafe PQfreeCancel(request)
        if socket >= 0 { close(socket) }
    }

    /// Asks the server to give up the statement under way, which then fails with `.cancelled`. Connects for it, and may
    /// block for as long as that takes.
    /// - Returns: whether the server has been asked.
    package func cancel() -> Bool {
        guard let request = unsafe request else { return false }
        var message = [CChar](repeating: 0, count: 256)
        return unsafe PQcancel(request, &message, 256) == 1
    }

    /// Ends the connection at once: whoever waits on it is told that it is lost.
    package func sever() {
        if socket >= 0 { shutdown(socket, Int32(SHUT_RDWR)) }
    }
}
