// SPDX-License-Identifier: Apache-2.0
import CLinux
import CMicrohttpd
import Glibc
import NativeEventLoop
import NativeSystem

/// The part of a server that lives on one loop: a libmicrohttpd daemon in external epoll mode, and its connections.
///
/// The library's epoll descriptor is watched by the loop; whenever it is ready, or the library says that it has
/// something left to do (`MHD_get_timeout` is 0), the library runs once. Unchecked because everything in here is
/// touched on the loop's thread alone.
@safe final class ServerLoop: @unchecked Sendable {
    let loop: EventLoop
    let handler: any HTTPHandler
    let limits: HTTPServerOptions.Limits
    let counters: ServerCounters
    /// Nil where it speaks plain HTTP.
    let identity: TLSIdentity?

    private var daemon: OpaquePointer?
    private var listener: Int32 = -1
    private var registration: Registration?
    private var isRunScheduled = false
    private var sweep: TimerToken?
    private let sweepInterval: Duration

    private(set) var connections: [HTTPConnection] = []
    private(set) var isDraining = false
    /// Whether a successor listens in its place.
    private(set) var isRetired = false
    private(set) var isStopping = false
    /// Whether the run that is under way has begun a request, or queued an answer.
    var hasBegun = false
    var hasQueued = false
    /// What is under way, and what waits to begin.
    var starts: StartQueue
    var isSpareTimeAsked = false

    init(
        loop: EventLoop, handler: any HTTPHandler, limits: HTTPServerOptions.Limits, counters: ServerCounters,
        identity: TLSIdentity?
    ) {
        self.loop = loop
        self.handler = handler
        self.limits = limits
        self.counters = counters
        self.identity = identity
        starts = StartQueue(patience: limits.startPatience)
        let shortest = min(limits.headTimeout, limits.bodyTimeout, limits.idleTimeout)
        sweepInterval = max(.milliseconds(5), min(.milliseconds(250), shortest / 8))
    }

    // MARK: Life, on the loop

    /// Starts the daemon on `listener`, which is ours to close from here on.
    func start(on listener: consuming ListeningSocket) throws(HTTPServerError) {
        let descriptor = listener.release()
        guard let started = unsafe startDaemon(descriptor) else {
            close(descriptor)
            throw .library
        }
        unsafe daemon = started
        self.listener = descriptor
        do throws(EventLoopError) {
            registration = try loop.register(
                descriptor: unsafe cmicrohttpd_epoll_descriptor(started), interest: .readable
            ) { [unowned self] _ in
                // A run that waits behind handlers' work finds their answers; one before it would suspend them.
                if !isRunScheduled { run() }
            }
        } catch {
            unsafe MHD_stop_daemon(started)
            unsafe daemon = nil
            throw .loop(error)
        }
        run()
    }

    private func startDaemon(_ descriptor: Int32) -> OpaquePointer? {
        // The library's own limits lie above ours, so that ours answer; its time-outs (0: none) only count silence.
        // It wipes a connection's memory after every request, so that is kept as small as a full head allows.
        let memory = limits.headBytes + 8_192
        let common = unsafe [
            MHD_OptionItem(option: .CONNECTION_LIMIT, value: limits.connections + 1_024, ptr_value: nil),
            MHD_OptionItem(option: .CONNECTION_TIMEOUT, value: 0, ptr_value: nil),
            MHD_OptionItem(option: .CONNECTION_MEMORY_LIMIT, value: memory, ptr_value: nil),
            MHD_OptionItem(option: .CONNECTION_MEMORY_INCREMENT, value: 4_096, ptr_value: nil),
            MHD_OptionItem(option: .STRICT_FOR_CLIENT, value: 1, ptr_value: nil),
            // Loops block SIGPIPE on their threads.
            MHD_OptionItem(option: .SIGPIPE_HANDLED_BY_APP, value: 1, ptr_value: nil),
        ]
        guard let identity else { return unsafe startDaemon(descriptor, common) }
        return unsafe identity.withOptions { unsafe startDaemon(descriptor, common + $0) }
    }

    private func startDaemon(_ descriptor: Int32, _ options: [MHD_OptionItem]) -> OpaquePointer? {
        let all = unsafe options + [MHD_OptionItem(option: .END, value: 0, ptr_value: nil)]
        return unsafe cmicrohttpd_start(
            descriptor, identity == nil ? 0 : 1, all, Unmanaged.passUnretained(self).toOpaque(), accessCallback,
            targetCallback, connectionCallback, completedCallback, unescapeCallback)
    }

    /// How long an idle connection stays when the server drains: a request that is on its way by then is answered,
    /// not reset.
    static let farewell = Duration.seconds(1)

    /// Takes no more connections; every answer from now on says `Connection: close`, what is idle closes after the
    /// farewell.
    func drain() {
        guard !isDraining, let daemon = unsafe daemon else { return }
        isDraining = true
        if !isRetired {
            takeQueuedConnections()
            unsafe leaveListener(of: daemon)
        }
        let end = MonotonicInstant.now().advanced(by: ServerLoop.farewell)
        for connection in connections where connection.phase == .waiting {
            connection.enter(.waiting, until: min(connection.deadline, end))
        }
        run()
    }

    /// One that listens in this one's place and shows another certificate; this one serves its connections to their
    /// end, says `Connection: close` with each answer, and stops when the last one has gone.
    ///
    /// Both listen on one socket, so that no connection that waits in its queue is lost.
    /// - Returns: nil where this one takes no connections any more.
    func successor(showing identity: TLSIdentity) throws(HTTPServerError) -> ServerLoop? {
        guard let daemon = unsafe daemon, !isDraining, !isRetired else { return nil }
        let next = ServerLoop(
            loop: loop, handler: handler, limits: limits, counters: counters, identity: identity)
        try next.start(on: ListeningSocket.duplicate(of: listener))
        isRetired = true
        unsafe leaveListener(of: daemon)
        stopIfOver()
        return next
    }

    /// Ends a retired one that has nothing left to do, after the work that is under way.
    func stopIfOver() {
        guard isRetired, connections.isEmpty else { return }
        loop.execute { [self] in
            if connections.isEmpty { stop() }
        }
    }

    /// Whether it was stopped.
    var isOver: Bool { unsafe daemon == nil }

    private func leaveListener(of daemon: OpaquePointer) {
        _ = unsafe MHD_quiesce_daemon(daemon)
        close(listener)
        listener = -1
    }

    /// Connections that wait in the listener's queue would be reset with it: take them in first.
    private func takeQueuedConnections() {
        for _ in 0..<1_000 {
            var watched = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&watched, 1, 0) > 0 else { return }
            run()
        }
    }

    /// Answers what waits for a handler, closes everything and ends the daemon; handlers run on, unheard.
    func stop() {
        guard let daemon = unsafe daemon else { return }
        drain()
        isStopping = true
        // The library aborts when it is stopped over a suspended connection.
        for connection in connections { resume(connection) }
        for _ in 0..<4 { unsafe MHD_run(daemon) }
        if let sweep { loop.cancel(sweep) }
        sweep = nil
        if let registration { loop.deregister(registration) }
        registration = nil
        unsafe self.daemon = nil
        unsafe MHD_stop_daemon(daemon)
    }

    // MARK: Running

    /// Lets the library do what there is to do; soon again where it has not finished.
    private func run() {
        guard let daemon = unsafe daemon else { return }
        hasBegun = false
        hasQueued = false
        unsafe MHD_run(daemon)
        // A queued answer is sent by the next run; at once, unless that would suspend a request whose handler is
        // about to run.
        if hasQueued, !hasBegun { unsafe MHD_run(daemon) }
        var milliseconds: UInt64 = 0
        if unsafe MHD_get_timeout(daemon, &milliseconds) == .YES, milliseconds == 0 { scheduleRun() }
    }

    /// Runs the library once more, after the work that waits now.
    private func scheduleRun() {
        guard !isRunScheduled else { return }
        isRunScheduled = true
        loop.execute { [self] in
            isRunScheduled = false
            run()
        }
    }

    /// Lets the library call back for `connection`, if it was suspended.
    func resume(_ connection: HTTPConnection) {
        guard connection.isSuspended, let handle = unsafe connection.handle else { return }
        connection.isSuspended = false
        unsafe MHD_resume_connection(handle)
        // Without a thread of its own the library wakes nobody.
        scheduleRun()
    }

    // MARK: Connections

    func add(_ connection: HTTPConnection) {
        connection.place = connections.count
        connections.append(connection)
        if sweep == nil, !isStopping { scheduleSweep() }
    }

    func remove(_ connection: HTTPConnection) {
        let last = connections.removeLast()
        guard last !== connection else { return }
        connections[connection.place] = last
        last.place = connection.place
    }

    /// Ends the connection from our side.
    func end(_ connection: HTTPConnection) {
        connection.enter(.ending, until: .never)
        connection.socket.end()
    }

    private func scheduleSweep() {
        sweep = loop.schedule(at: .now().advanced(by: sweepInterval)) { [unowned self] in
            sweep = nil
            sweepDeadlines()
            if !connections.isEmpty { scheduleSweep() }
        }
    }

    /// One pass over all connections instead of a timer for each: requests then set deadlines at no cost.
    private func sweepDeadlines() {
        let now = MonotonicInstant.now()
        while let overdue = starts.overdue(at: now) { begin(overdue) }
        for connection in connections {
            guard connection.deadline <= now else {
                if isStuck(connection) { refuse(connection, .badRequest(.chunk)) }
                continue
            }
            // After a stop of the whole process a body may lie in the socket, and one run reads a part of it.
            if connection.phase != .answering, connection.stage.postponements < 8, connection.socket.hasUnreadBytes {
                connection.stage.postponements += 1
                continue
            }
            expire(connection)
        }
    }

    /// Whether the library has left a chunked body's bytes in the socket since the last sweep: a chunk's first line is
    /// longer than its memory for a connection. It does not refuse that, and asks to be run again without a pause.
    private func isStuck(_ connection: HTTPConnection) -> Bool {
        guard connection.phase == .body, connection.head?.bodyLength == .chunked else { return false }
        let size = connection.socket.hasUnreadBytes ? connection.body.count : nil
        defer { connection.stage.unreadAt = size }
        return size != nil && size == connection.stage.unreadAt
    }

    private func refuse(_ connection: HTTPConnection, _ refusal: HTTPRefusal) {
        connection.sendLast(render(refusal, head: connection.head))
        end(connection)
    }

    private func expire(_ connection: HTTPConnection) {
        switch connection.phase {
        case .head: connection.sendLast(render(.headTimeout, head: nil))
        case .body: connection.sendLast(render(.bodyTimeout, head: connection.head))
        case .waiting, .answering, .handling, .ending: break
        }
        end(connection)
    }
}
