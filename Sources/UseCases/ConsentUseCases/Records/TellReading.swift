// SPDX-License-Identifier: Apache-2.0
import Consents
import Observability

/// Writes down that somebody reads a profile or a token, once a caller and day, before it is given away.
struct TellReading: Sendable {
    let store: any ConsentStore
    let time: any Timekeeper
    let log: Log

    /// - Parameter type: `profileRead` or `tokenRead`.
    /// - Returns: false where the record has ended meanwhile: nothing was written, and nothing may be given.
    /// - Throws: `storeUnavailable` where it could not be written: what nobody could prove is not given.
    func callAsFunction(_ type: EventType, of id: ConsentID, by caller: CallerIdentity)
        async throws(ConsentFailure) -> Bool
    {
        let now = time.now
        let event = EventDraft(type: type, at: now, caller: caller.name, requestID: caller.requestID)
        do {
            return try await store.appendOnce(event, to: id, since: now.startOfDay) != .ended
        } catch {
            log.warning("a reading could not be written down", [Fact(.consentID, "\(id)"), Fact(.reason, "\(error)")])
            throw .storeUnavailable
        }
    }
}

extension Instant {
    /// Midnight in UTC before it.
    var startOfDay: Instant {
        let day: Int64 = 86_400_000
        return Instant(milliseconds: milliseconds - ((milliseconds % day) + day) % day)
    }
}
