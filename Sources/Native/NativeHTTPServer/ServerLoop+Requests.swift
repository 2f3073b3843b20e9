// SPDX-License-Identifier: Apache-2.0
import CMicrohttpd
import NativeEventLoop
import NativeSystem
import Synchronization

// What happens to a request, step by step, as the library calls back.
extension ServerLoop {
    /// A connection was accepted.
    func connectionStarted(_ connection: HTTPConnection) {
        add(connection)
        let count = counters.connections.wrappingAdd(1, ordering: .relaxed).newValue
        guard count > limits.connections else { return }
        connection.sendLast(render(.tooManyConnections, head: nil))
        end(connection)
    }

    /// The library lets go of the connection.
    func connectionClosed(_ connection: HTTPConnection) {
        unsafe connection.handle = nil
        counters.connections.wrappingSubtract(1, ordering: .relaxed)
        remove(connection)
        stopIfOver()
    }

    /// The first line is in.
    func targetSeen(_ connection: HTTPConnection, _ target: [UInt8]) {
        guard connection.phase == .waiting else { return }
        connection.target = target
        // The first head's time began with the connection.
        let deadline = MonotonicInstant.now().advanced(by: limits.headTimeout)
        connection.enter(.head, until: connection.isFirst ? min(deadline, connection.deadline) : deadline)
    }

    /// The head is in. Refused here, nothing of the body is read, and no `100 Continue` is sent.
    func headReceived(_ connection: HTTPConnection, _ reader: borrowing HeadReader, size: Int, fieldCount: Int)
        -> MHD_Result
    {
        let now = MonotonicInstant.now()
        count(connection)
        guard size <= limits.headBytes else { return answerEarly(connection, render(.headersTooLarge, head: nil)) }
        var head: HTTPRequestHead
        do throws(HTTPDefect) {
            head = try reader.read(target: connection.target, fieldCount: fieldCount, peer: connection.peer, at: now)
        } catch {
            return answerEarly(connection, render(.badRequest(error), head: nil))
        }
        let refusal = handler.admit(&head)
        connection.head = head
        if let response = refusal {
            if head.bodyLength != .none { return answerEarly(connection, closing(response)) }
            // Queued now, it would end the connection; the library calls again at once, and then it does not.
            connection.response = response
            connection.enter(.handling, until: .never)
            return .YES
        }
        if case .bytes(let length) = head.bodyLength {
            guard length <= limits.bodyBytes else { return answerEarly(connection, render(.bodyTooLarge, head: head)) }
            connection.body.reserveCapacity(length)
        }
        connection.enter(.body, until: now.advanced(by: limits.bodyTimeout))
        return .YES
    }

    /// A part of the body.
    func bodyReceived(_ connection: HTTPConnection, _ part: UnsafeRawBufferPointer) -> MHD_Result {
        guard connection.phase == .body else { return .NO }
        guard connection.body.count + part.count <= limits.bodyBytes else {
            // The library takes no answer in the middle of a body.
            connection.sendLast(render(.bodyTooLarge, head: connection.head))
            return .NO
        }
        unsafe connection.body.append(contentsOf: part)
        return .YES
    }

    /// The request is in, or the library asks once more for the answer to it.
    ///
    /// The first time the handler is started and the connection left as it is: an answer that needs no wait is there
    /// when the library asks again. Only then is the connection suspended. That also keeps the library from reading
    /// after the resume, where it would take a half-closed peer for one that is gone.
    func answerWanted(_ connection: HTTPConnection) -> MHD_Result {
        let phase = connection.phase
        if phase == .body {
            connection.enter(.handling, until: .never)
            if starts.beginsAtOnce { begin(connection) } else { wait(connection) }
            return .YES
        }
        guard phase == .handling, !connection.isPlaying, let handle = unsafe connection.handle else {
            return .NO
        }
        if let response = connection.response { return queue(response, for: connection) }
        if isStopping { return queue(render(.stopping, head: connection.head), for: connection) }
        connection.isSuspended = true
        unsafe MHD_suspend_connection(handle)
        return .YES
    }

    private func wait(_ connection: HTTPConnection) {
        starts.wait(connection)
        askForSpareTime()
    }

    /// Whoever waits begins when the loop has time to spare, if not before.
    private func askForSpareTime() {
        guard !isSpareTimeAsked, starts.hasWaiting else { return }
        isSpareTimeAsked = true
        loop.executeWhenIdle { [self] in
            isSpareTimeAsked = false
            for _ in 0..<StartQueue.inSpareTime {
                guard let next = starts.next() else { break }
                begin(next)
            }
            askForSpareTime()
        }
    }

    func begin(_ connection: HTTPConnection) {
        guard let head = connection.head else { return }
        hasBegun = true
        let request = HTTPRequest(head: head, body: connection.body)
        connection.body = []
        connection.isHandlerRunning = true
        starts.begun()
        Task(executorPreference: loop) { [self] in
            let response = await handler.respond(to: request)
            handlerEnded(connection, response)
        }
    }

    private func handlerEnded(_ connection: HTTPConnection, _ response: HTTPResponse) {
        precondition(loop.isCurrent, "a handler comes back on its own loop")
        connection.isHandlerRunning = false
        if let next = starts.ended() { begin(next) }
        guard connection.isCounted, unsafe connection.handle != nil, connection.phase == .handling else {
            // The peer or the server has gone meanwhile; the answer is dropped.
            return uncount(connection)
        }
        connection.response = response
        resume(connection)
    }

    /// The answer is delivered, or never will be.
    func requestCompleted(_ connection: HTTPConnection) {
        let phase = connection.phase
        if phase == .answering, connection.hasUnreadBody { connection.socket.discardPending() }
        if !connection.isHandlerRunning { uncount(connection) }
        connection.forgetRequest()
        connection.isFirst = false
        guard phase != .ending else { return }
        // The library misses the end of a stream that came together with a request's last bytes. What was sent ahead
        // is answered still: it lies in the library's buffer, and begins before the next sweep.
        let now = MonotonicInstant.now()
        let hasEnded = connection.socket.isHalfClosed
        connection.enter(.waiting, until: hasEnded ? now : now.advanced(by: limits.idleTimeout))
    }

    private func count(_ connection: HTTPConnection) {
        connection.isCounted = true
        counters.openRequests.wrappingAdd(1, ordering: .relaxed)
    }

    private func uncount(_ connection: HTTPConnection) {
        guard connection.isCounted else { return }
        connection.isCounted = false
        counters.openRequests.wrappingSubtract(1, ordering: .relaxed)
    }

    // MARK: Answers

    /// How the handler renders a refusal.
    func render(_ refusal: HTTPRefusal, head: HTTPRequestHead?) -> HTTPResponse {
        let response = closing(handler.refusal(refusal, head: head))
        return response.isSendable ? response : HTTPResponse(status: 500, closesConnection: true)
    }

    private func closing(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        response.closesConnection = true
        return response
    }

    /// Answers before the body; the library ends the connection afterwards.
    private func answerEarly(_ connection: HTTPConnection, _ response: HTTPResponse) -> MHD_Result {
        connection.hasUnreadBody = true
        return queue(response, for: connection)
    }

    private func queue(_ response: HTTPResponse, for connection: HTTPConnection) -> MHD_Result {
        if let raw = response.raw, connection.phase == .handling { return play(raw, on: connection) }
        guard let handle = unsafe connection.handle else { return .NO }
        hasQueued = true
        connection.enter(.answering, until: .now().advanced(by: limits.idleTimeout))
        connection.response = nil
        // The library closes the connection of a request that is refused so.
        if response.isHangUp { return .NO }
        let sendable = response.isSendable ? response : render(.unsendableResponse, head: connection.head)
        // The library takes a line of a chunked body that ends with LF alone. Whoever stands before us and ends lines at
        // CRLF only sees another end of such a request: nothing that comes after one is taken for a request.
        let isEndInDoubt = connection.head?.bodyLength == .chunked
        return unsafe queueAnswer(
            sendable, on: handle, closing: isDraining || isRetired || isEndInDoubt || sendable.closesConnection)
    }
}

/// Hands the answer to the library, which copies it.
private func queueAnswer(_ response: HTTPResponse, on handle: OpaquePointer, closing: Bool) -> MHD_Result {
    let made = unsafe response.body.withUnsafeBytes { body in
        unsafe MHD_create_response_from_buffer(
            body.count, UnsafeMutableRawPointer(mutating: body.baseAddress), .RESPMEM_MUST_COPY)
    }
    guard let made = unsafe made else { return .NO }
    defer { unsafe MHD_destroy_response(made) }
    for (name, value) in response.headers where !HTTPResponse.isServersOwn(name) {
        // Where they lie: an argument that is a text would be copied into an array each time.
        let result = unsafe name.withCString { name in
            unsafe value.withCString { unsafe MHD_add_response_header(made, name, $0) }
        }
        guard result == .YES else { return .NO }
    }
    if closing, unsafe MHD_add_response_header(made, "Connection", "close") != .YES { return .NO }
    return unsafe MHD_queue_response(handle, UInt32(response.status), made)
}
