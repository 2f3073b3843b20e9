// SPDX-License-Identifier: Apache-2.0

/// So many background calls go at once, over all providers; who asks first goes first.
actor RefreshSlots {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) { free = max(1, count) }

    func take() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    func giveBack() {
        if waiting.isEmpty {
            free += 1
        } else {
            waiting.removeFirst().resume()
        }
    }

    /// How many one of `providers` may hold: one is left to each of the others, so that a slow one starves nobody.
    static func share(of concurrency: Int, among providers: Int) -> Int {
        max(1, concurrency - max(0, providers - 1))
    }
}
