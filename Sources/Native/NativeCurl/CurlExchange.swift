// SPDX-License-Identifier: Apache-2.0
internal import CCurl
internal import Glibc

/// What one transfer has seen so far, and what follows from it. No I/O: the callbacks tell it what happens.
struct CurlExchange {
    let bodyLimit: Int
    let headLimit: Int
    let spends: Bool
    let isProxied: Bool

    /// How often libcurl was about to write the request, which is after the handshake and before its first byte.
    private(set) var sends = 0
    private(set) var status = 0
    private(set) var lines: [UInt8] = []
    private(set) var body: [UInt8] = []
    private(set) var isHeadWhole = false
    private var headSize = 0
    private var isHeadTooLong = false
    private var isBodyTooLarge = false
    private var isFenced = false
    private var isSecondSendPrevented = false
    private var hasDialled = false
    private var isAddressRefused = false
    private var isStopped = false

    init(bodyLimit: Int, headLimit: Int, spends: Bool, isProxied: Bool) {
        self.bodyLimit = bodyLimit
        self.headLimit = headLimit
        self.spends = spends
        self.isProxied = isProxied
    }

    // MARK: What happens

    /// Whether the request may be written now.
    mutating func beforeSending(isAddressAllowed: Bool, fence: (() -> Bool)?) -> Bool {
        if sends > 0, spends {
            isSecondSendPrevented = true
            return false
        }
        guard isAddressAllowed else {
            isAddressRefused = true
            return false
        }
        if let fence, !fence() {
            isFenced = true
            return false
        }
        sends += 1
        return true
    }

    /// Whether that address may be dialled.
    mutating func dial(isAllowed: Bool) -> Bool {
        if isAllowed { hasDialled = true } else { isAddressRefused = true }
        return isAllowed
    }

    mutating func stop() { isStopped = true }

    /// A line of a head, or of trailers after the body; false where the head is too long.
    mutating func take(line: UnsafeRawBufferPointer) -> Bool {
        headSize += line.count
        guard headSize <= headLimit else {
            isHeadTooLong = true
            return false
        }
        if unsafe line.first == UInt8(ascii: "H"), unsafe line.starts(with: "HTTP/".utf8) {
            lines.removeAll(keepingCapacity: true)
            // Nearly every head goes into it without its growing.
            lines.reserveCapacity(512)
            isHeadWhole = false
            unsafe status = Self.status(in: line)
        } else if unsafe line.allSatisfy({ $0 == 0x0D || $0 == 0x0A }) {
            unsafe isHeadWhole = isHeadWhole || (status >= 200 && line.last == 0x0A)
        } else if !isHeadWhole {
            unsafe lines.append(contentsOf: line)
        }
        return true
    }

    /// The number after the first blank of a status line; 0 where there is none.
    private static func status(in line: UnsafeRawBufferPointer) -> Int {
        let digits = unsafe line.drop { $0 != 0x20 }.drop { $0 == 0x20 }.prefix { 0x30...0x39 ~= $0 }
        return unsafe Int(String(decoding: digits, as: UTF8.self)) ?? 0
    }

    /// A piece of the decoded body; false where it goes over the limit.
    mutating func take(body piece: UnsafeRawBufferPointer) -> Bool {
        guard body.count + piece.count <= bodyLimit else {
            isBodyTooLarge = true
            return false
        }
        unsafe body.append(contentsOf: piece)
        return true
    }

    // MARK: What follows

    /// The fate of the request, now that libcurl has ended the transfer with `code`.
    /// - Parameters:
    ///   - systemError: of the last connection that failed (errno(3)).
    ///   - verification: what OpenSSL made of the certificate (X509_STORE_CTX_get_error(3)).
    ///   - isRefused: whether the server has ended the handshake because of our certificate.
    func result(
        _ code: CURLcode, systemError: Int, verification: Int, isRefused: Bool = false, answer: () -> CurlAnswer
    ) -> CurlResult {
        if isRefused, code != CURLE_OK, status == 0, !isSecondSendPrevented {
            return .notSent(.tls(.clientCertificate))
        }
        if sends == 0 { return .notSent(notSentReason(code, systemError, verification)) }
        if isSecondSendPrevented { return .unknown(.secondSendPrevented) }
        if isBodyTooLarge { return .unknown(.bodyTooLarge(status: status)) }
        if isHeadTooLong { return .unknown(.protocolError) }
        if code == CURLE_OK, isHeadWhole { return .answered(answer()) }
        if isHeadWhole, body.isEmpty, code == CURLE_BAD_CONTENT_ENCODING {
            return .unknown(.undecodable(status: status))
        }
        if isHeadWhole { return .unknown(.cutOff(answer())) }
        if isStopped { return .unknown(.stopped) }
        switch code {
        case CURLE_OPERATION_TIMEDOUT: return .unknown(.timeout)
        case CURLE_OK, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE: return .unknown(.closedWithoutAnswer)
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR: return .unknown(.reset)
        default: return .unknown(.protocolError)
        }
    }

    private func notSentReason(_ code: CURLcode, _ systemError: Int, _ verification: Int) -> NotSentReason {
        if isFenced { return .fenced }
        if isStopped { return .stopped }
        if isAddressRefused, !hasDialled || code == CURLE_ABORTED_BY_CALLBACK { return .addressRefused }
        switch code {
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: return .badURL
        case CURLE_COULDNT_RESOLVE_HOST: return .resolve
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY: return .proxy
        case CURLE_OPERATION_TIMEDOUT: return .connect(.timeout)
        case CURLE_COULDNT_CONNECT:
            return isProxied ? .proxy : .connect(systemError == Int(ECONNREFUSED) ? .refused : .unreachable)
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR: return isProxied ? .proxy : .connect(.unreachable)
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER: return .tls(.handshake)
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR: return .tls(Self.fault(verification))
        case CURLE_SSL_CERTPROBLEM: return .tls(.clientCertificate)
        case CURLE_SSL_CACERT_BADFILE: return .tls(.trustStore)
        default: return .local(code.rawValue)
        }
    }

    /// The numbers are OpenSSL's. The host's name is compared by libcurl, after OpenSSL has found nothing wrong: then
    /// libcurl tells 1 for "unspecified".
    private static func fault(_ verification: Int) -> TLSFault {
        switch verification {
        case 0, 1, 62: .otherHost
        case 9, 10: .expired
        default: .verification
        }
    }
}
