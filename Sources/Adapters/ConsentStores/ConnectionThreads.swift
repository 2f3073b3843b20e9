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

/// Starts some of them; where one cannot be, none is left.
/// - Parameter queue: closed to end those that were started.
func startConnectionThreads<Element>(
    named name: String, _ count: Int, ending queue: BlockingQueue<Element>,
    _ body: @escaping @Sendable (_ isOpen: () -> Void) throws(SQLError) -> Void
) throws(StoreFailure) -> [Locked<NamedThread?>] {
    var threads: [Locked<NamedThread?>] = []
    do throws(StoreFailure) {
        for number in 1...max(1, count) { threads.append(try startConnectionThread(name: "\(name)-\(number)", body)) }
        return threads
    } catch {
        queue.close()
        for thread in threads { thread.joinAndForget() }
        throw error
    }
}

extension Locked where Value == NamedThread? {
    /// Waits until the thread has ended; a second time it returns at once.
    func joinAndForget() {
        let ended = withLock { $0.take() }
        ended?.join()
    }
}
