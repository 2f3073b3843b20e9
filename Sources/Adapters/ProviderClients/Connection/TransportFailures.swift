// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeCurl

extension NativeCurl.NotSentReason {
    /// The same in the domain's words.
    var meaning: Consents.NotSentReason {
        switch self {
        case .badURL, .badRequest, .plainHTTPRefused, .local: .configuration
        case .addressRefused: .refusedAddress
        case .resolve: .resolve
        case .connect: .connect
        case .tls(.handshake), .tls(.clientCertificate): .tls
        case .tls(.verification): .certificateUntrusted
        case .tls(.expired): .certificateExpired
        case .tls(.otherHost): .certificateOfOtherHost
        case .tls(.trustStore): .trustStoreUnreadable
        case .proxy: .proxy
        case .fenced: .fenced
        case .tooManyCalls, .stopped: .stopped
        }
    }
}

extension NativeCurl.UnknownReason {
    /// The same in the domain's words. A client that was stopped has listened no longer: as a time-out.
    var meaning: Consents.UnknownReason {
        switch self {
        case .timeout, .stopped: .timeout
        case .reset, .closedWithoutAnswer: .reset
        case .secondSendPrevented: .secondSendPrevented
        case .cutOff: .cutOff
        case .bodyTooLarge: .bodyTooLarge
        case .undecodable: .undecodable
        case .protocolError: .protocolError
        }
    }

    /// The HTTP status, 0 where no head arrived.
    var status: Int {
        switch self {
        case .cutOff(let answer): answer.status
        case .bodyTooLarge(let status), .undecodable(let status): status
        case .timeout, .reset, .closedWithoutAnswer, .secondSendPrevented, .protocolError, .stopped: 0
        }
    }
}
