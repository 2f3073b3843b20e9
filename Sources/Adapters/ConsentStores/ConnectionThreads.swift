// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeSystem

/// Starts a thread that opens its own connection, which never leaves it.
/// - Parameter body: calls its argument once the connection is open, then works until it is told to end.
/// - Throws: why the connection could not be opened; then there is no thread.
func startConnectionThread(
    name: String, _ body: @escaping @Sendable (_ isOpen: () -> Void) throws(SQLError) -> Void
) throws(StoreFailure) -> Locked<NamedThread?> {
    let reports = BlockingQueue<StoreFailure?>()
    let thread: Locked<NamedThread?>
    do throws(SystemCallError) {
        thread = Locked(
            try NamedThread(name: name) {
                do throws(SQLError) {
                    try body { _ = reports.offer(nil, limit: 1) }
                } catch { _ = reports.offer(StoreFailure(error), limit: 1) }
            })
    } catch { throw .outOfReach("\(error)") }
    if let failure = reports.take(upTo: 1)?.first ?? nil {
        thread.joinAndForget()
        throw failure
    }
    return thread
}

extension Locked where Value == NamedThread? {
    /// Waits until the thread has ended; a second time it returns at once.
    func joinAndForget() {
        let ended = withLock { $0.take() }
        ended?.join()
    }
}
