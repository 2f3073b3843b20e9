// SPDX-License-Identifier: Apache-2.0

/// What became of one code or one refresh token.
package struct Sendings: Sendable, Equatable {
    /// How often it arrived.
    package var sent = 0
    /// How often it had its effect.
    package var taken = 0

    package init(sent: Int = 0, taken: Int = 0) {
        self.sent = sent
        self.taken = taken
    }
}

/// What the simulated provider was asked: counts by endpoint, by code and by refresh token, and the newest requests.
///
/// A code or token counts when the request that carries it has arrived, whatever becomes of it. Bounded.
struct CallLog: Sendable {
    private(set) var counts: [String: Int] = [:]
    private(set) var codes: BoundedTable<Sendings>
    private(set) var refreshTokens: BoundedTable<Sendings>
    /// Codes of which a second sending has arrived.
    private(set) var codesSentTwice = 0
    private(set) var refreshTokensSentTwice = 0
    private var calls: [SimulatedCall] = []
    private var oldestCall = 0
    private let callCapacity: Int

    init(options: SimulatorOptions) {
        codes = BoundedTable(capacity: options.capacity)
        refreshTokens = BoundedTable(capacity: options.capacity)
        callCapacity = options.recordedCalls
    }

    mutating func record(_ call: SimulatedCall, at endpoint: Endpoint) {
        counts[endpoint.rawValue, default: 0] += 1
        guard callCapacity > 0 else { return }
        if calls.count < callCapacity {
            calls.append(call)
        } else {
            calls[oldestCall] = call
            oldestCall = (oldestCall + 1) % callCapacity
        }
    }

    /// The newest requests, from old to new.
    var recordedCalls: [SimulatedCall] { Array(calls[oldestCall...] + calls[..<oldestCall]) }

    mutating func codeArrived(_ text: String) {
        if Self.count(text, in: &codes, \.sent) == 2 { codesSentTwice += 1 }
    }

    mutating func codeTaken(_ text: String) { _ = Self.count(text, in: &codes, \.taken) }

    mutating func refreshTokenArrived(_ text: String) {
        if Self.count(text, in: &refreshTokens, \.sent) == 2 { refreshTokensSentTwice += 1 }
    }

    mutating func refreshTokenTaken(_ text: String) { _ = Self.count(text, in: &refreshTokens, \.taken) }

    private static func count(
        _ text: String, in table: inout BoundedTable<Sendings>, _ what: WritableKeyPath<Sendings, Int>
    ) -> Int {
        var sendings = table[text] ?? Sendings()
        sendings[keyPath: what] += 1
        table.put(text, sendings)
        return sendings[keyPath: what]
    }
}
