// SPDX-License-Identifier: Apache-2.0

/// A request with whoever waits for its result; resumed once, at the latest when the last reference goes, so that a
/// loop that has ended leaves nobody waiting.
///
/// Unchecked: made on the caller's thread, handed to the loop, touched by one of them at a time.
@safe final class CurlCall: @unchecked Sendable {
    let request: CurlRequest
    private var continuation: UnsafeContinuation<CurlResult, Never>?

    init(_ request: CurlRequest, _ continuation: UnsafeContinuation<CurlResult, Never>) {
        self.request = request
        unsafe self.continuation = continuation
    }

    func resume(_ result: CurlResult) {
        guard let continuation = unsafe continuation else { return }
        unsafe self.continuation = nil
        unsafe continuation.resume(returning: result)
    }

    deinit {
        if let continuation = unsafe continuation { unsafe continuation.resume(returning: .notSent(.stopped)) }
    }
}

/// Somebody who waits until the last reference to this goes.
@safe final class CurlStop: @unchecked Sendable {
    private let continuation: UnsafeContinuation<Void, Never>

    init(_ continuation: UnsafeContinuation<Void, Never>) { unsafe self.continuation = continuation }

    deinit { unsafe continuation.resume() }
}
