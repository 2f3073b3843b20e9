// SPDX-License-Identifier: Apache-2.0
import NativeSystem

/// One connection, and the request on it: at most one at a time, the next one waits in the library's buffer.
///
/// Unchecked because it belongs to one loop and is touched on that loop's thread alone; a handler's task carries it
/// along and comes back with it on the same loop.
@safe final class HTTPConnection: @unchecked Sendable {
    enum Phase {
        /// For a request's first line.
        case waiting
        /// The first line has come.
        case head
        /// The head is in; its body comes, if it has one.
        case body
        /// The handler works, or its response waits to be queued. No deadline: handlers have their own.
        case handling
        /// The library sends the answer.
        case answering
        /// We have ended the socket, the library will notice.
        case ending
    }

    /// Where the request is. One value, because each access to a variable of an object is checked when it happens.
    struct Stage {
        let phase: Phase
        /// Absolute, whatever trickles in until then.
        let deadline: MonotonicInstant
        /// How often the deadline was put off because bytes lay unread (the process may have stood still).
        var postponements = 0
        /// The body's size when a sweep last found that the library had left bytes in the socket.
        var unreadAt: Int?
    }

    let socket: ConnectionSocket
    let peer: PeerAddress
    /// Whether what goes over the socket is encrypted.
    let isTLS: Bool
    /// The library's connection; nil once that is gone.
    var handle: OpaquePointer?
    /// Its index among the connections of its loop.
    var place = 0
    var stage: Stage

    var target: [UInt8] = []
    var head: HTTPRequestHead?
    var body: [UInt8] = []
    var response: HTTPResponse?
    var isSuspended = false
    /// Whether a raw answer has its socket; the library may only close it then.
    var isPlaying = false
    var isHandlerRunning = false
    /// Whether no request was completed on the connection yet.
    var isFirst = true
    /// Whether it was answered before its body was read.
    var hasUnreadBody = false
    /// Whether the request counts among the open ones.
    var isCounted = false

    init(handle: OpaquePointer, descriptor: Int32, peer: PeerAddress, isTLS: Bool, deadline: MonotonicInstant) {
        unsafe self.handle = handle
        socket = ConnectionSocket(descriptor: descriptor)
        self.peer = peer
        self.isTLS = isTLS
        stage = Stage(phase: .waiting, deadline: deadline)
    }

    var phase: Phase { stage.phase }
    var deadline: MonotonicInstant { stage.deadline }

    func enter(_ phase: Phase, until deadline: MonotonicInstant) { stage = Stage(phase: phase, deadline: deadline) }

    /// Whether its request has come and no handler was started for it.
    var awaitsHandler: Bool {
        unsafe handle != nil && isCounted && phase == .handling && !isHandlerRunning && response == nil
    }

    /// Lets go of the request; the connection may carry another one.
    func forgetRequest() {
        target = []
        head = nil
        body = []
        response = nil
    }
}

extension MonotonicInstant {
    /// A deadline that never passes.
    static let never = MonotonicInstant(nanoseconds: .max)
}
