// SPDX-License-Identifier: Apache-2.0
import NativeSystem

/// When one loop's requests begin.
///
/// A loop that has more to do than it can takes on nothing new: beyond `atOnce` requests under way, the next ones begin
/// when the loop has had nothing to do for a millisecond, or when others have ended. Where there is time to spare nobody
/// waits for long, however slow providers and store are; a loop that is full ends what it has begun first, and one
/// that waits costs its connection's memory and no more. Nobody waits for longer than `patience`: what keeps the loop busy
/// may be a backlog of another provider than the one that those under way are waiting for.
struct StartQueue {
    /// How many a loop begins without looking at how busy it is.
    static let atOnce = 64
    /// How many begin when the loop has time to spare.
    static let inSpareTime = 32
    /// Of so many that end one is not followed: those under way become as few as keep the loop busy.
    static let followedButOne = 8

    let patience: Duration
    private var waiting: [(connection: HTTPConnection, since: MonotonicInstant)] = []
    /// How many at the front of `waiting` have been taken out.
    private var taken = 0
    private var underWay = 0
    private var ends = 0

    init(patience: Duration) { self.patience = patience }

    var hasWaiting: Bool { taken < waiting.count }
    /// Whether a request that has come now begins now.
    var beginsAtOnce: Bool { underWay < StartQueue.atOnce && !hasWaiting }

    mutating func wait(_ connection: HTTPConnection) { waiting.append((connection, .now())) }

    mutating func begun() { underWay += 1 }

    /// - Returns: the one that begins in its place.
    mutating func ended() -> HTTPConnection? {
        underWay -= 1
        guard hasWaiting else { return nil }
        ends = (ends + 1) % StartQueue.followedButOne
        return underWay < StartQueue.atOnce || ends != 0 ? next() : nil
    }

    /// The one that has waited for too long, taken out.
    mutating func overdue(at now: MonotonicInstant) -> HTTPConnection? {
        guard hasWaiting, waiting[taken].since.advanced(by: patience) <= now else { return nil }
        return next()
    }

    /// The one that waits longest and is there still, taken out.
    mutating func next() -> HTTPConnection? {
        while hasWaiting {
            let connection = waiting[taken].connection
            taken += 1
            if taken * 2 > waiting.count { dropTaken() }
            if connection.awaitsHandler { return connection }
        }
        return nil
    }

    /// All of them in one piece: moving what stays costs no more than having taken them.
    private mutating func dropTaken() {
        waiting.removeFirst(taken)
        taken = 0
    }
}
