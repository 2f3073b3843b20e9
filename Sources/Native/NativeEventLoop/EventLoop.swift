// SPDX-License-Identifier: Apache-2.0
import CLinux
package import NativeSystem

/// A thread of its own that serves descriptors, jobs and timers; a task that prefers it stays on that thread.
///
/// One turn: wait until something is there → serve every ready descriptor → run the jobs → fire the timers that were
/// due *before* the wait began. So whatever could be read when a deadline passed is served before the timer fires, even
/// after the whole process was stopped for an hour. Timers are precise to a millisecond and never early.
///
/// Calls marked *on the loop* trap on any other thread. Unchecked, because the compiler cannot see that everything that
/// changes is either behind `inbox` or touched by the loop's thread alone.
package final class EventLoop: TaskExecutor, @unchecked Sendable {
    package let name: String
    private let wakeDescriptor: Int32
    private let inbox = Locked(Inbox())
    private let thread = Locked<pthread_t?>(nil)

    // The loop's thread alone touches what follows.
    private var poller: Poller
    private var timers = TimerHeap()
    private var localWork: [Work] = []
    private var batch: [Work] = []
    private var idleWork: [() -> Void] = []
    private var sleepers: [ObjectIdentifier: (sleeper: Sleeper, timer: TimerToken)] = [:]
    private var isEnding = false

    private init(name: String) throws(SystemCallError) {
        self.name = name
        let descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { throw .last("eventfd") }
        wakeDescriptor = descriptor
        do {
            poller = try Poller.open(wake: descriptor)
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit {
        close(wakeDescriptor)
    }

    /// A running loop; `name` is its thread's, of which the kernel keeps 15 bytes.
    ///
    /// The thread keeps the loop alive until `stop()`.
    /// - Throws: `EventLoopError.system` when descriptors or threads have run out.
    package static func start(name: String) throws(EventLoopError) -> EventLoop {
        do throws(SystemCallError) {
            let loop = try EventLoop(name: name)
            var thread = pthread_t()
            let box = unsafe Unmanaged.passRetained(loop)
            let code = unsafe pthread_create(&thread, nil, runEventLoop, box.toOpaque())
            guard code == 0 else {
                unsafe box.release()
                throw SystemCallError("pthread_create", code: code)
            }
            loop.thread.withLock { [thread] in $0 = thread }
            return loop
        } catch {
            throw .system(error)
        }
    }

    /// Whether the caller is on this loop's thread.
    package var isCurrent: Bool {
        unsafe clinux_thread_mark() == UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
    }

    /// Runs what was handed in, wakes everybody who sleeps (as cancelled), ends the thread and waits for its end.
    ///
    /// What is handed in afterwards is dropped. A second call does nothing; never call it on the loop.
    package func stop() {
        precondition(!isCurrent, "a loop cannot wait for its own end")
        inbox.withLock { if $0.phase == .running { $0.phase = .stopping } }
        wake()
        let ended = thread.withLock { held in
            defer { held = nil }
            return held
        }
        if let ended { pthread_join(ended, nil) }
    }

    // MARK: Work, from any thread

    package func enqueue(_ job: consuming ExecutorJob) {
        submit(.job(UnownedJob(job)))
    }

    /// Runs `body` on the loop, later: never inline, not even for a caller on the loop.
    package func execute(_ body: @escaping @Sendable () -> Void) {
        submit(.body(body))
    }

    private func submit(_ work: Work) {
        if isCurrent {
            localWork.append(work)
            return
        }
        let isFirst = inbox.withLock { inbox in
            guard inbox.phase != .stopped else { return false }
            inbox.work.append(work)
            return inbox.work.count == 1
        }
        if isFirst { wake() }
    }

    private func wake() {
        eventfd_write(wakeDescriptor, 1)
    }

    // MARK: Descriptors, on the loop

    /// Watches `descriptor` until `deregister`, which must come before the descriptor is closed.
    ///
    /// The handler is called at each turn while the descriptor is ready. It may deregister itself and others.
    /// - Throws: `EventLoopError.system`, `EEXIST` for one that is watched already, `EPERM` for a plain file.
    package func register(
        descriptor: Int32, interest: Interest, handler: @escaping (Readiness) -> Void
    ) throws(EventLoopError) -> Registration {
        preconditionOnLoop()
        do { return try poller.add(descriptor, interest, handler) } catch { throw .system(error) }
    }

    /// Watches for something else from now on; nothing happens where it was deregistered.
    package func update(_ registration: Registration, interest: Interest) throws(EventLoopError) {
        preconditionOnLoop()
        do { try poller.change(registration, interest) } catch { throw .system(error) }
    }

    /// Ends the watch; its handler is not called again, not even for an event that is there already.
    package func deregister(_ registration: Registration) {
        preconditionOnLoop()
        poller.remove(registration)
    }

    // MARK: Spare time, on the loop

    /// Runs `body` once, as soon as the loop has had nothing to do for a millisecond; dropped if it stops before.
    package func executeWhenIdle(_ body: @escaping () -> Void) {
        preconditionOnLoop()
        idleWork.append(body)
    }

    // MARK: Timers, on the loop

    /// Calls `body` once, at `deadline` or up to a millisecond later, after everything readable was served.
    package func schedule(at deadline: MonotonicInstant, _ body: @escaping () -> Void) -> TimerToken {
        preconditionOnLoop()
        return timers.insert(at: deadline, body)
    }

    /// Takes the timer back; false where it has fired or was cancelled before.
    @discardableResult
    package func cancel(_ token: TimerToken) -> Bool {
        preconditionOnLoop()
        return timers.remove(token)
    }

    func begin(_ sleeper: Sleeper, until deadline: MonotonicInstant) {
        guard !isEnding else { return sleeper.finish(.cancelled) }
        guard !sleeper.hasEnded else { return }
        let identity = ObjectIdentifier(sleeper)
        let token = schedule(at: deadline) { [self] in
            sleepers[identity] = nil
            sleeper.finish(.elapsed)
        }
        sleepers[identity] = (sleeper, token)
    }

    func end(_ sleeper: Sleeper) {
        if let timer = sleepers.removeValue(forKey: ObjectIdentifier(sleeper))?.timer { cancel(timer) }
    }

    private func preconditionOnLoop() {
        precondition(isCurrent, "this belongs on the loop's own thread")
    }

    // MARK: The thread

    fileprivate func run() {
        while !isEnding { turn() }
        for (sleeper, _) in sleepers.values { sleeper.finish(.cancelled) }
        sleepers = [:]
        repeat {
            while runLocalWork() {}
        } while runInbox() || !localWork.isEmpty || !inbox.withLock { $0.closeIfEmpty() }
        timers = TimerHeap()
        idleWork = []
        poller.forgetHandlers()
    }

    private func turn() {
        let now = MonotonicInstant.now()
        let patience = localWork.isEmpty ? patience(at: now) : 0
        let count = poller.wait(milliseconds: patience)
        if count == 0, patience != 0 { runIdleWork() }
        var isWoken = false
        for index in 0..<count {
            let (handler, readiness, isWake) = poller.event(at: index)
            handler?(readiness)
            if isWake { isWoken = true }
        }
        _ = runLocalWork()
        if isWoken { _ = runInbox() }
        let limit = timers.nextSequence
        while let body = timers.popDue(by: now, setBefore: limit) { body() }
    }

    /// Milliseconds until the next timer, rounded up, so that no timer is early; one at most where work waits for spare
    /// time.
    private func patience(at now: MonotonicInstant) -> Int32 {
        let untilTimer = patienceForTimers(at: now)
        return idleWork.isEmpty || untilTimer == 0 ? untilTimer : 1
    }

    private func patienceForTimers(at now: MonotonicInstant) -> Int32 {
        guard let earliest = timers.earliest else { return -1 }
        guard earliest > now else { return 0 }
        let (nanoseconds, overflow) = earliest.nanoseconds.subtractingReportingOverflow(now.nanoseconds)
        return overflow ? .max : Int32(clamping: (nanoseconds - 1) / 1_000_000 + 1)
    }

    private func runIdleWork() {
        guard !idleWork.isEmpty else { return }
        let taken = idleWork
        idleWork = []
        for body in taken { body() }
    }

    /// Runs the local work that is there now, not what it adds; false where there was none.
    private func runLocalWork() -> Bool {
        swap(&batch, &localWork)
        return runBatch()
    }

    private func runInbox() -> Bool {
        var taken = batch
        batch = []
        isEnding = inbox.withLock { inbox in
            swap(&inbox.work, &taken)
            return inbox.phase != .running
        }
        batch = taken
        taken = []
        return runBatch()
    }

    private func runBatch() -> Bool {
        guard !batch.isEmpty else { return false }
        for work in batch {
            switch work {
            case .job(let job): unsafe job.runSynchronously(on: asUnownedTaskExecutor())
            case .body(let body): body()
            }
        }
        batch.removeAll(keepingCapacity: true)
        return true
    }
}

/// The body of a loop's thread; a C callback, which captures nothing.
private func runEventLoop(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    let loop = unsafe Unmanaged<EventLoop>.fromOpaque(argument).takeRetainedValue()
    unsafe clinux_begin_thread(String(loop.name.prefix(15)), argument)
    loop.run()
    return nil
}
