// SPDX-License-Identifier: Apache-2.0
import CMicrohttpd
import Glibc
import NativeSystem

// The functions that libmicrohttpd calls, all on the loop's thread within MHD_run. They find the loop in `cls`, and the
// connection where it was put when it began; neither is retained by the library except for that one reference.

/// A request's step: its head, a part of its body, or the wish for an answer (MHD_AccessHandlerCallback).
func accessCallback(
    _ cls: UnsafeMutableRawPointer?, _ handle: OpaquePointer?, _ url: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ part: UnsafePointer<CChar>?,
    _ partSize: UnsafeMutablePointer<Int>?, _ context: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let server = unsafe serverLoop(cls), let handle = unsafe handle,
        let connection = unsafe connection(of: handle), let partSize = unsafe partSize
    else { return .NO }
    if connection.phase == .head {
        guard let url = unsafe url, let method = unsafe method, let version = unsafe version else { return .NO }
        let size = unsafe cmicrohttpd_head_size(handle)
        let reader = unsafe HeadReader(
            UnsafeRawBufferPointer(start: method, count: size), targetStart: url - method,
            versionStart: version - method)
        let fieldCount = unsafe Int(MHD_get_connection_values(handle, .HEADER_KIND, nil, nil))
        return server.headReceived(connection, reader, size: size, fieldCount: fieldCount)
    }
    guard unsafe partSize.pointee > 0 else { return server.answerWanted(connection) }
    let result = unsafe server.bodyReceived(
        connection, UnsafeRawBufferPointer(start: part, count: partSize.pointee))
    unsafe partSize.pointee = 0
    return result
}

/// The first line, before the library cuts it up; what is returned becomes the request's context, which we do not use.
func targetCallback(
    _ cls: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>, _ handle: OpaquePointer
) -> UnsafeMutableRawPointer? {
    guard let server = unsafe serverLoop(cls), let connection = unsafe connection(of: handle) else { return nil }
    let bytes = unsafe UnsafeRawBufferPointer(start: target, count: strlen(target))
    server.targetSeen(connection, unsafe [UInt8](bytes))
    return nil
}

/// A connection begins or ends (MHD_NotifyConnectionCallback).
func connectionCallback(
    _ cls: UnsafeMutableRawPointer?, _ handle: OpaquePointer?,
    _ context: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ change: MHD_ConnectionNotificationCode
) {
    guard let server = unsafe serverLoop(cls), let handle = unsafe handle, let context = unsafe context else { return }
    if change == .CONNECTION_NOTIFY_STARTED {
        let connection = unsafe HTTPConnection(
            handle: handle, descriptor: cmicrohttpd_socket(handle), peer: PeerAddress(cmicrohttpd_peer(handle)),
            deadline: .now().advanced(by: server.limits.headTimeout))
        unsafe context.pointee = Unmanaged.passRetained(connection).toOpaque()
        server.connectionStarted(connection)
    } else if let held = unsafe context.pointee {
        unsafe context.pointee = nil
        server.connectionClosed(unsafe Unmanaged<HTTPConnection>.fromOpaque(held).takeRetainedValue())
    }
}

/// A request is over, answered or not (MHD_RequestCompletedCallback).
func completedCallback(
    _ cls: UnsafeMutableRawPointer?, _ handle: OpaquePointer?,
    _ context: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ end: MHD_RequestTerminationCode
) {
    guard let server = unsafe serverLoop(cls), let handle = unsafe handle,
        let connection = unsafe connection(of: handle)
    else { return }
    server.requestCompleted(connection)
}

/// Changes nothing: paths are decoded by whoever reads them, segment by segment.
func unescapeCallback(
    _ cls: UnsafeMutableRawPointer?, _ handle: OpaquePointer?, _ text: UnsafeMutablePointer<CChar>
) -> Int {
    unsafe strlen(text)
}

private func serverLoop(_ cls: UnsafeMutableRawPointer?) -> ServerLoop? {
    guard let cls = unsafe cls else { return nil }
    return unsafe Unmanaged<ServerLoop>.fromOpaque(cls).takeUnretainedValue()
}

private func connection(of handle: OpaquePointer) -> HTTPConnection? {
    guard let held = unsafe cmicrohttpd_socket_context(handle) else { return nil }
    return unsafe Unmanaged<HTTPConnection>.fromOpaque(held).takeUnretainedValue()
}
