// SPDX-License-Identifier: Apache-2.0
import CLinux

/// What a descriptor is watched for; `EPOLLERR` and `EPOLLHUP` are told in any case (epoll_ctl(2)).
package struct Interest: OptionSet, Sendable, Hashable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    package static let readable = Interest(rawValue: EPOLLIN.rawValue)
    package static let writable = Interest(rawValue: EPOLLOUT.rawValue)
}

/// What a descriptor is ready for, as epoll told it.
package struct Readiness: OptionSet, Sendable, Hashable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    package static let readable = Readiness(rawValue: EPOLLIN.rawValue)
    package static let writable = Readiness(rawValue: EPOLLOUT.rawValue)
    package static let failed = Readiness(rawValue: EPOLLERR.rawValue)
    package static let hungUp = Readiness(rawValue: EPOLLHUP.rawValue)
}
