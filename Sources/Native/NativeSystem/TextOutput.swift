// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Opens `/dev/null` for each of the descriptors 0 to 2 that the process was started without, so that no file or socket
/// gets their numbers and is written into. They are opened the wrong way round: who reads or writes them gets an error,
/// as from a closed one.
package func occupyStandardDescriptors() {
    for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
        // The lowest free number is the one that is missing.
        _ = unsafe open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
    }
}

/// Where a command's words go.
package enum OutputStream: Int32, Sendable {
    case standardOutput = 1
    case standardError = 2

    /// Whether a person watches it (isatty(3)).
    package var isTerminal: Bool { isatty(rawValue) == 1 }

    /// Writes all of the text, waiting for the reader where it must (write(2)).
    /// - Returns: false where the reader has gone or the device refuses.
    @discardableResult
    package func write(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(rawValue, $0.baseAddress, $0.count) }
            if count < 0 {
                guard errno == EINTR else { return false }
                continue
            }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
