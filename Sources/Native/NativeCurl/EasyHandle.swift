// SPDX-License-Identifier: Apache-2.0
internal import CCurl
internal import NativeEventLoop
internal import NativeSystem

/// The one owner of a libcurl easy handle, used for call after call; what all calls share is set once.
///
/// The callbacks find it through the pointer that libcurl hands them; it lives as long as its handle.
@safe final class EasyHandle {
    let easy: UnsafeMutableRawPointer
    var exchange = CurlExchange(bodyLimit: 0, headLimit: 0, spends: false, isProxied: false)
    private(set) var call: CurlCall?
    private(set) var isPlain = false
    /// Of the server that is called.
    private(set) var origin = ""
    var timer: TimerToken?
    private var headers: UnsafeMutablePointer<curl_slist>?
    private let complaint: TLSComplaint?
    /// Of the identity that the handle shows; 0 for none.
    private var shownIdentity = 0

    /// - Throws: `local` where libcurl has no memory or does not know an option.
    init(_ configuration: CurlConfiguration, trust: TrustStore, share: UnsafeMutableRawPointer)
        throws(NotSentReason)
    {
        guard let easy = unsafe curl_easy_init() else { throw .local(CURLE_OUT_OF_MEMORY.rawValue) }
        unsafe self.easy = easy
        unsafe headers = nil
        complaint = unsafe configuration.identity == nil ? nil : TLSComplaint(of: easy)
        try setFixedNumbers(configuration)
        try setFixedTexts()
        try trust.apply(to: self)
        try unsafe setCallbacks(share: share)
    }

    deinit {
        unsafe curl_easy_cleanup(easy)
        unsafe curl_slist_free_all(headers)
    }

    static func of(_ easy: UnsafeMutableRawPointer) -> EasyHandle? {
        var context: UnsafeMutablePointer<CChar>?
        guard unsafe ccurl_get_text(easy, CURLINFO_PRIVATE, &context) == CURLE_OK, let context = unsafe context
        else { return nil }
        return unsafe Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue()
    }

    // MARK: Set once

    private func setFixedNumbers(_ configuration: CurlConfiguration) throws(NotSentReason) {
        try set(CURLOPT_NOSIGNAL, 1)
        try set(CURLOPT_FOLLOWLOCATION, 0)
        try set(CURLOPT_HTTP09_ALLOWED, 0)
        try set(CURLOPT_PATH_AS_IS, 1)
        try set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        try set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        try set(CURLOPT_BUFFERSIZE, 4096)
        // The least there is; over TLS each handle keeps such a buffer, of 64 KiB if nothing is said.
        try set(CURLOPT_UPLOAD_BUFFERSIZE, 16_384)
        // libcurl's own time-out drops an answer that has arrived already; the client's timer reads it first.
        try set(CURLOPT_TIMEOUT_MS, 0)
        // Else a lookup that hangs is waited for, on the loop, when its transfer is given up.
        try set(CURLOPT_QUICK_EXIT, 1)
        // libcurl's default, said: together with the age of connections it bounds how long an old address is called.
        try set(CURLOPT_DNS_CACHE_TIMEOUT, 60)
        try set(CURLOPT_MAXLIFETIME_CONN, max(1, Int(configuration.connectionAge.components.seconds)))
    }

    private func setFixedTexts() throws(NotSentReason) {
        try set(CURLOPT_PROTOCOLS_STR, "https,http")
        try set(CURLOPT_REDIR_PROTOCOLS_STR, "https")
        try set(CURLOPT_ACCEPT_ENCODING, "gzip, deflate")
        // An empty text, not null: null would let the environment speak.
        try set(CURLOPT_NOPROXY, "")
    }

    private func setCallbacks(share: UnsafeMutableRawPointer) throws(NotSentReason) {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        for option in [
            CURLOPT_PRIVATE, CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_PREREQDATA, CURLOPT_OPENSOCKETDATA,
        ] {
            try check(unsafe ccurl_set_pointer(easy, option, context))
        }
        try check(unsafe ccurl_set_pointer(easy, CURLOPT_SHARE, share))
        try check(unsafe ccurl_set_writer(easy, CURLOPT_WRITEFUNCTION, takeBody))
        try check(unsafe ccurl_set_writer(easy, CURLOPT_HEADERFUNCTION, takeHeaderLine))
        try check(unsafe ccurl_set_prereq(easy, prepareToSend))
        try check(unsafe ccurl_set_opener(easy, openSocket))
    }

    // MARK: Set for each call

    /// - Parameter isOnNewConnection: whether a kept connection is out of the question.
    func prepare(
        _ call: CurlCall, to endpoint: CurlEndpoint, _ configuration: CurlConfiguration, isOnNewConnection: Bool
    ) throws(NotSentReason) {
        let request = call.request
        // Plain HTTP goes to loopback only, so no proxy has a part in it.
        let proxy = endpoint.isPlain ? nil : configuration.proxy(for: endpoint.host, port: endpoint.port)
        self.call = call
        complaint?.forget()
        isPlain = endpoint.isPlain
        origin = endpoint.origin
        exchange = CurlExchange(
            bodyLimit: configuration.bodyLimit, headLimit: configuration.headLimit, spends: request.spends,
            isProxied: proxy != nil)
        if let identity = configuration.identity { try show(identity) }
        try set(CURLOPT_URL, request.url)
        try set(CURLOPT_PROXY, proxy ?? "")
        try set(CURLOPT_HTTP_VERSION, request.http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1)
        try set(CURLOPT_CONNECTTIMEOUT_MS, max(1, request.connectTimeout.milliseconds))
        try set(CURLOPT_FRESH_CONNECT, isOnNewConnection ? 1 : 0)
        try set(CURLOPT_MAXAGE_CONN, request.spends ? 1 : max(1, Int(configuration.idleTime.components.seconds)))
        try setHeaders(of: request)
        try setBody(of: request.method)
    }

    /// A renewed certificate is shown from the next connection on: libcurl keeps apart those that were made with another.
    private func show(_ identity: CurlClientIdentity) throws(NotSentReason) {
        let current = identity.current
        guard current.version != shownIdentity else { return }
        for (option, text) in [(CURLOPT_SSLCERT_BLOB, current.certificate), (CURLOPT_SSLKEY_BLOB, current.privateKey)] {
            let code = unsafe text.withUnsafeBytes { bytes in
                unsafe bytes.baseAddress.map { start in
                    unsafe ccurl_set_blob(easy, option, UnsafeMutableRawPointer(mutating: start), bytes.count)
                } ?? CURLE_SSL_CERTPROBLEM
            }
            try check(code)
        }
        shownIdentity = current.version
    }

    private func setHeaders(of request: CurlRequest) throws(NotSentReason) {
        var line: [UInt8] = []
        line.reserveCapacity(256)
        for (name, value) in request.headers {
            guard CurlText.isHarmless(name, value) else { throw .badRequest }
            line.removeAll(keepingCapacity: true)
            line.append(text: name)
            line.append(text: value.isEmpty ? ";" : ": ")
            line.append(text: value)
            line.append(0)
            try addHeader(terminated: line)
        }
        switch request.method {
        case .get: break
        case .post:
            try addHeader("Expect:")
            if !request.headers.contains(where: { $0.name.lowercased() == "content-type" }) {
                try addHeader("Content-Type:")
            }
        case .postForm:
            try addHeader("Expect:")
            try addHeader("Content-Type: application/x-www-form-urlencoded")
        }
        try check(unsafe ccurl_set_headers(easy, headers))
    }

    private func addHeader(_ line: String) throws(NotSentReason) {
        // Where it lies: an argument that is a text would be copied into an array each time.
        try unsafe hold(line.withCString { unsafe curl_slist_append(headers, $0) })
    }

    /// - Parameter line: with a zero at its end.
    private func addHeader(terminated line: [UInt8]) throws(NotSentReason) {
        let longer = unsafe line.withUnsafeBytes { bytes in
            let start = unsafe bytes.assumingMemoryBound(to: CChar.self).baseAddress
            return unsafe start.flatMap { unsafe curl_slist_append(headers, $0) }
        }
        try unsafe hold(longer)
    }

    private func hold(_ longer: UnsafeMutablePointer<curl_slist>?) throws(NotSentReason) {
        guard let longer = unsafe longer else { throw .local(CURLE_OUT_OF_MEMORY.rawValue) }
        unsafe headers = longer
    }

    private func setBody(of method: CurlMethod) throws(NotSentReason) {
        switch method {
        case .get: try set(CURLOPT_HTTPGET, 1)
        case .post(let body), .postForm(let body):
            guard body.count <= 1 << 30 else { throw .badRequest }
            try set(CURLOPT_POST, 1)
            try set(CURLOPT_POSTFIELDSIZE, body.count)
            let copied = unsafe (body.isEmpty ? [0] : body).withUnsafeBytes { bytes in
                unsafe ccurl_set_pointer(
                    easy, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: bytes.baseAddress))
            }
            try check(copied)
        }
    }

    /// The result of the call that has ended, and the handle free of it.
    func finish(_ code: CURLcode) -> (call: CurlCall?, result: CurlResult) {
        var (systemError, verification) = (0, 0)
        _ = unsafe ccurl_get_long(easy, CURLINFO_OS_ERRNO, &systemError)
        _ = unsafe ccurl_get_long(easy, CURLINFO_SSL_VERIFYRESULT, &verification)
        let result = exchange.result(
            code, systemError: systemError, verification: verification,
            isRefused: complaint?.isOfCertificate ?? false, answer: answer)
        return (call, result)
    }

    /// Whether a kept connection has ended under the request, so that nobody knows what became of it.
    func hasLostKeptConnection(_ result: CurlResult) -> Bool {
        guard case .unknown(let reason) = result else { return false }
        switch reason {
        case .secondSendPrevented:
            return true
        case .reset, .closedWithoutAnswer:
            var connections = 0
            _ = unsafe ccurl_get_long(easy, CURLINFO_NUM_CONNECTS, &connections)
            return connections == 0
        case .timeout, .cutOff, .bodyTooLarge, .undecodable, .protocolError, .stopped:
            return false
        }
    }

    /// Forgets the call; only once the handle has left the multi handle.
    func clear() {
        call = nil
        exchange = CurlExchange(bodyLimit: 0, headLimit: 0, spends: false, isProxied: false)
        _ = unsafe ccurl_set_headers(easy, nil)
        unsafe curl_slist_free_all(headers)
        unsafe headers = nil
        _ = unsafe ccurl_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, nil)
    }

    private func answer() -> CurlAnswer {
        var connections = 0
        var microseconds: curl_off_t = 0
        var address: UnsafeMutablePointer<CChar>?
        _ = unsafe ccurl_get_long(easy, CURLINFO_NUM_CONNECTS, &connections)
        _ = unsafe ccurl_get_offset(easy, CURLINFO_TOTAL_TIME_T, &microseconds)
        _ = unsafe ccurl_get_text(easy, CURLINFO_PRIMARY_IP, &address)
        return CurlAnswer(
            status: exchange.status, headers: CurlHeaders(lines: exchange.lines), body: exchange.body,
            address: unsafe address.map { unsafe String(cString: $0) } ?? "",
            elapsed: .microseconds(Int64(microseconds)), usedKeptConnection: connections == 0)
    }

    // MARK: One way to libcurl

    func set(_ option: CURLoption, _ value: Int) throws(NotSentReason) {
        try check(unsafe ccurl_set_long(easy, option, value))
    }

    func set(_ option: CURLoption, _ value: String?) throws(NotSentReason) {
        guard let value else { return try check(unsafe ccurl_set_text(easy, option, nil)) }
        try check(unsafe value.withCString { unsafe ccurl_set_text(easy, option, $0) })
    }

    private func check(_ code: CURLcode) throws(NotSentReason) {
        guard code == CURLE_OK else { throw .local(code.rawValue) }
    }
}

/// What may stand in a header that we send.
enum CurlText {
    /// A name made of token characters (RFC 9110, 5.6.2), a value without control characters.
    static func isHarmless(_ name: String, _ value: String) -> Bool {
        !name.isEmpty && name.utf8.span.allSatisfy(isToken)
            && value.utf8.span.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }

    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        // ! # $ % & ' * + - . ^ _ ` | ~
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true
        default: false
        }
    }
}

extension Duration {
    /// Rounded down, held within what libcurl takes (24 days).
    var milliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(min(max(0, seconds), 2_000_000)) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
    }
}
