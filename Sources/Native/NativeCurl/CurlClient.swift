// SPDX-License-Identifier: Apache-2.0
internal import CBlocks
internal import CCurl
internal import Glibc
package import NativeEventLoop
internal import NativeSystem

/// HTTP calls of one loop: libcurl's multi handle, served by the loop's descriptors and timers (libcurl-multi(3),
/// "the multi_socket_action approach"). Connections are kept and used again; easy handles too.
///
/// From its first call on it lives until `stop()`, which comes before the loop's; one that has called nobody needs none.
/// Unchecked: everything that changes is touched on the loop.
@safe package final class CurlClient: @unchecked Sendable {
    package let loop: EventLoop
    private let configuration: CurlConfiguration
    private let trust: TrustStore
    private let multi: UnsafeMutableRawPointer
    private let share: UnsafeMutableRawPointer

    private var idle: [EasyHandle] = []
    private var active: [ObjectIdentifier: EasyHandle] = [:]
    private var watches: [curl_socket_t: Registration] = [:]
    private var timer: (token: TimerToken, deadline: MonotonicInstant)?
    private var wakeUpTime: MonotonicInstant?
    private var wantsCallNow = false
    /// Whether libcurl knows where to call back; until then nothing keeps the client alive.
    private var isSetUp = false
    private var isStopped = false
    /// Servers that ended a kept connection under a request: there every request gets a connection of its own until
    /// then. Some servers close after each answer and do not say so.
    private var unsteady: [String: MonotonicInstant] = [:]
    /// Of the URLs that were called: a configuration has a handful, and taking one apart costs more than a header.
    private var endpoints: [String: CurlEndpoint] = [:]
    private static let unsteadyFor = Duration.seconds(600)

    /// - Throws: `local` where libcurl could not be set up.
    package init(loop: EventLoop, configuration: CurlConfiguration) throws(NotSentReason) {
        guard isLibcurlReady, let multi = unsafe curl_multi_init() else { throw .local(CURLE_FAILED_INIT.rawValue) }
        guard let share = unsafe curl_share_init() else {
            unsafe curl_multi_cleanup(multi)
            throw .local(CURLE_FAILED_INIT.rawValue)
        }
        do {
            trust = try TrustStore(adding: configuration.caFile, systemFolder: configuration.systemCertificates)
        } catch {
            unsafe curl_share_cleanup(share)
            unsafe curl_multi_cleanup(multi)
            throw error
        }
        self.loop = loop
        self.configuration = configuration
        unsafe self.multi = multi
        unsafe self.share = share
    }

    deinit {
        // Otherwise `close` has.
        if !isSetUp { cleanUp() }
    }

    private func setUp() {
        guard !isSetUp else { return }
        isSetUp = true
        // libcurl holds this pointer until `close`, which gives the reference back.
        let context = unsafe Unmanaged.passRetained(self).toOpaque()
        _ = unsafe ccurl_multi_set_socket_watcher(multi, watchSocket, context)
        _ = unsafe ccurl_multi_set_timer(multi, setTimer, context)
        _ = unsafe ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, max(1, configuration.idleConnections))
        // TLS sessions are resumed by whichever handle calls next; one thread, so no lock.
        _ = unsafe ccurl_share(share, CURL_LOCK_DATA_SSL_SESSION)
    }

    /// What became of the request, at the latest when its `timeout` has passed.
    ///
    /// Cancelling the task changes nothing: a request that may have left is listened to. From any thread; without a
    /// hop for a task that runs on the loop.
    package func perform(_ request: CurlRequest) async -> CurlResult {
        unsafe await withUnsafeContinuation { continuation in
            let call = unsafe CurlCall(request, continuation)
            if loop.isCurrent { begin(call) } else { loop.execute { self.begin(call) } }
        }
    }

    /// Ends every call that is under way (`stopped`) and every connection; calls that come later are not sent.
    package func stop() async {
        unsafe await withUnsafeContinuation { continuation in
            let waiting = unsafe CurlStop(continuation)
            loop.execute { withExtendedLifetime(waiting) { self.close() } }
        }
    }

    // MARK: Calls

    private func begin(_ call: CurlCall) {
        do throws(NotSentReason) {
            if isStopped { throw .stopped }
            setUp()
            if active.count >= configuration.calls { throw .tooManyCalls }
            let endpoint = try endpoint(of: call.request)
            try endpoint.check(call.request)
            try start(call, on: freeHandle(), to: endpoint)
        } catch {
            call.resume(.notSent(error))
        }
    }

    /// - Throws: `badURL`.
    private func endpoint(of request: CurlRequest) throws(NotSentReason) -> CurlEndpoint {
        if let known = endpoints[request.url] { return known }
        guard let endpoint = CurlEndpoint(request.url) else { throw .badURL }
        if endpoints.count >= 64 { endpoints = [:] }
        endpoints[request.url] = endpoint
        return endpoint
    }

    private func freeHandle() throws(NotSentReason) -> EasyHandle {
        if let handle = idle.popLast() { return handle }
        return try unsafe EasyHandle(configuration, trust: trust, share: share)
    }

    private func start(_ call: CurlCall, on handle: EasyHandle, to endpoint: CurlEndpoint) throws(NotSentReason) {
        do throws(NotSentReason) {
            try handle.prepare(call, to: endpoint, configuration, isOnNewConnection: isUnsteady(endpoint))
            guard unsafe curl_multi_add_handle(multi, handle.easy) == CURLM_OK else {
                throw .local(CURLE_FAILED_INIT.rawValue)
            }
        } catch {
            handle.clear()
            keep(handle)
            throw error
        }
        active[ObjectIdentifier(handle)] = handle
        handle.timer = loop.schedule(at: .now().advanced(by: call.request.timeout)) { [unowned self, unowned handle] in
            expire(handle)
        }
        wantsCallNow = true
        settle()
    }

    /// The call's time is up: what has arrived meanwhile is read first, for the loop may have been late.
    private func expire(_ handle: EasyHandle) {
        handle.timer = nil
        let identity = ObjectIdentifier(handle)
        var turns = 0
        while turns < 1024, active[identity] != nil, handle.exchange.sends > 0, let socket = readableSocket(of: handle)
        {
            drive(socket, CURL_CSELECT_IN)
            turns += 1
        }
        if active[identity] != nil { finish(handle, CURLE_OPERATION_TIMEDOUT) }
    }

    private func readableSocket(of handle: EasyHandle) -> curl_socket_t? {
        var socket = CURL_SOCKET_BAD
        guard unsafe ccurl_get_socket(handle.easy, &socket) == CURLE_OK, socket != CURL_SOCKET_BAD else { return nil }
        var watched = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&watched, 1, 0) == 1 ? socket : nil
    }

    private func isUnsteady(_ endpoint: CurlEndpoint) -> Bool {
        // Most clients never meet one; the endpoint's name is made for those that have.
        if unsteady.isEmpty { return false }
        return unsteady[endpoint.origin].map { $0 > .now() } ?? false
    }

    private func finish(_ handle: EasyHandle, _ code: CURLcode) {
        let (call, result) = handle.finish(code)
        if handle.hasLostKeptConnection(result) {
            if unsteady.count >= 256 { unsteady = [:] }
            unsteady[handle.origin] = .now().advanced(by: CurlClient.unsteadyFor)
        }
        unsafe curl_multi_remove_handle(multi, handle.easy)
        active[ObjectIdentifier(handle)] = nil
        if let timer = handle.timer { loop.cancel(timer) }
        handle.timer = nil
        handle.clear()
        keep(handle)
        call?.resume(result)
    }

    private func keep(_ handle: EasyHandle) {
        if idle.count < 256 { idle.append(handle) }
    }

    private func close() {
        guard !isStopped else { return }
        isStopped = true
        guard isSetUp else { return }
        for handle in active.values {
            handle.exchange.stop()
            finish(handle, CURLE_ABORTED_BY_CALLBACK)
        }
        idle = []
        cleanUp()
        for registration in watches.values { loop.deregister(registration) }
        watches = [:]
        if let timer { loop.cancel(timer.token) }
        timer = nil
        unsafe Unmanaged.passUnretained(self).release()
    }

    private func cleanUp() {
        unsafe curl_multi_cleanup(multi)
        unsafe curl_share_cleanup(share)
    }

    // MARK: libcurl's wheels

    private func drive(_ socket: curl_socket_t, _ events: Int32) {
        var running: Int32 = 0
        unsafe curl_multi_socket_action(multi, socket, events, &running)
        settle()
    }

    /// Gives libcurl the calls it asked for at once, and takes out what has ended.
    private func settle() {
        var turns = 0
        repeat {
            if wantsCallNow {
                wantsCallNow = false
                var running: Int32 = 0
                unsafe curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running)
            }
            collect()
            turns += 1
        } while wantsCallNow && turns < 16
        if wantsCallNow {
            wantsCallNow = false
            wakeUpTime = .now()
            arm()
        }
    }

    private func collect() {
        var left: Int32 = 0
        while let message = unsafe curl_multi_info_read(multi, &left) {
            guard unsafe message.pointee.msg == CURLMSG_DONE else { continue }
            // The message dies with `curl_multi_remove_handle`: copied first.
            let code = unsafe message.pointee.data.result
            guard let handle = unsafe EasyHandle.of(message.pointee.easy_handle) else { continue }
            finish(handle, code)
        }
    }

    func watch(_ socket: curl_socket_t, _ what: Int32) {
        guard what != CURL_POLL_REMOVE else {
            if let registration = watches.removeValue(forKey: socket) { loop.deregister(registration) }
            return
        }
        var interest: Interest = []
        if what & CURL_POLL_IN != 0 { interest.insert(.readable) }
        if what & CURL_POLL_OUT != 0 { interest.insert(.writable) }
        // A descriptor that cannot be watched costs its call the time-out, which every call has.
        if let registration = watches[socket] {
            try? loop.update(registration, interest: interest)
        } else {
            watches[socket] = try? loop.register(descriptor: socket, interest: interest) { [unowned self] readiness in
                serve(socket, readiness)
            }
        }
    }

    private func serve(_ socket: curl_socket_t, _ readiness: Readiness) {
        var events: Int32 = 0
        if readiness.contains(.readable) || readiness.contains(.hungUp) { events |= CURL_CSELECT_IN }
        if readiness.contains(.writable) { events |= CURL_CSELECT_OUT }
        if readiness.contains(.failed) { events |= CURL_CSELECT_ERR }
        drive(socket, events)
    }

    /// libcurl's one timer: −1 takes it back, 0 is at once.
    func wakeUp(after milliseconds: Int) {
        wantsCallNow = milliseconds == 0
        wakeUpTime = milliseconds > 0 ? .now().advanced(by: .milliseconds(milliseconds)) : nil
        arm()
    }

    /// Sets the loop's timer unless an earlier one stands: that one looks again and sets the next.
    private func arm() {
        guard let wakeUpTime else { return }
        if let timer {
            guard wakeUpTime < timer.deadline else { return }
            loop.cancel(timer.token)
        }
        let token = loop.schedule(at: wakeUpTime) { [unowned self] in timePassed() }
        timer = (token, wakeUpTime)
    }

    private func timePassed() {
        timer = nil
        guard let wakeUpTime else { return }
        guard wakeUpTime <= .now() else { return arm() }
        self.wakeUpTime = nil
        drive(CURL_SOCKET_TIMEOUT, 0)
    }
}

/// libcurl's own state, set up once a process before the first handle (curl_global_init(3)).
/// A call takes and gives back some eighty small blocks.
private let isLibcurlReady =
    unsafe curl_global_init_mem(
        Int(CURL_GLOBAL_DEFAULT), cblocks_take, cblocks_give, cblocks_resize, cblocks_copy, cblocks_take_zeroed)
    == CURLE_OK
