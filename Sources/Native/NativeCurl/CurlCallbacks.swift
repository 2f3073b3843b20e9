// SPDX-License-Identifier: Apache-2.0
internal import CCurl
internal import Glibc
internal import NativeSystem

// What libcurl calls. Each is handed the `EasyHandle` or the `CurlClient` as an opaque pointer; all run on the loop.

private func handle(_ context: UnsafeMutableRawPointer?) -> EasyHandle? {
    guard let context = unsafe context else { return nil }
    return unsafe Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue()
}

/// CURLOPT_WRITEFUNCTION(3): anything but the size given ends the transfer.
func takeBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    guard let handle = unsafe handle(context), unsafe handle.exchange.take(body: piece) else { return 0 }
    return piece.count
}

/// CURLOPT_HEADERFUNCTION(3): one whole line each.
func takeHeaderLine(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    guard let handle = unsafe handle(context), unsafe handle.exchange.take(line: line) else { return 0 }
    return line.count
}

/// CURLOPT_PREREQFUNCTION(3): the connection stands, the request is about to be written.
func prepareToSend(
    _ context: UnsafeMutableRawPointer?, _ address: UnsafeMutablePointer<CChar>?, _: UnsafeMutablePointer<CChar>?,
    _: Int32, _: Int32
) -> Int32 {
    guard let handle = unsafe handle(context), let request = handle.call?.request else { return CURL_PREREQFUNC_ABORT }
    // A kept connection was dialled under another call's policy.
    let isAsked = !handle.exchange.isProxied && !request.addresses.allowsAll
    let dialled = unsafe isAsked ? address.flatMap { unsafe IPAddress(String(cString: $0)) } : nil
    let isAllowed = dialled.map(request.addresses.allows) ?? true
    let maySend = handle.exchange.beforeSending(isAddressAllowed: isAllowed, fence: request.beforeFirstByte)
    return maySend ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

/// CURLOPT_OPENSOCKETFUNCTION(3): each address that is dialled comes by here.
func openSocket(
    _ context: UnsafeMutableRawPointer?, _: curlsocktype, _ target: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let handle = unsafe handle(context), let request = handle.call?.request, let target = unsafe target,
        let address = unsafe IPAddress(dialled: target)
    else { return CURL_SOCKET_BAD }
    let isAllowed =
        !address.isLinkLocalOrMetadata
        && (handle.exchange.isProxied || request.addresses.allows(address))
        && (!handle.isPlain || address.isLoopback)
    guard handle.exchange.dial(isAllowed: isAllowed) else { return CURL_SOCKET_BAD }
    return unsafe socket(
        target.pointee.family, target.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue), target.pointee.protocol)
}

/// CURLMOPT_SOCKETFUNCTION(3): what a socket is to be watched for from now on.
func watchSocket(
    _: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ what: Int32, _ context: UnsafeMutableRawPointer?,
    _: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context = unsafe context else { return 0 }
    unsafe Unmanaged<CurlClient>.fromOpaque(context).takeUnretainedValue().watch(socket, what)
    return 0
}

/// CURLMOPT_TIMERFUNCTION(3): when libcurl wants to be called though nothing happens.
func setTimer(_: UnsafeMutableRawPointer?, _ milliseconds: Int, _ context: UnsafeMutableRawPointer?) -> Int32 {
    guard let context = unsafe context else { return 0 }
    unsafe Unmanaged<CurlClient>.fromOpaque(context).takeUnretainedValue().wakeUp(after: milliseconds)
    return 0
}
