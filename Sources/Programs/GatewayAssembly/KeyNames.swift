// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Settings

/// Holds the names of the configuration's keys against those of the store. A name is one key's: events, limits and last
/// uses tell callers by it.
enum KeyNames {
    /// - Parameter stored: revoked ones too, for events name those for ever.
    /// - Throws: `StartFailure` with status 3 that names file and line of each key whose name is taken.
    static func hold(_ configured: [APIKeySettings], against stored: [String]) throws(StartFailure) {
        let doubts = doubts(configured, stored)
        if doubts.isEmpty { return }
        throw StartFailure(
            "the configuration cannot be used:\n" + doubts.joined(separator: "\n"), .configuration)
    }

    /// A sentence on each key whose name is taken.
    static func doubts(_ configured: [APIKeySettings], _ stored: [String]) -> [String] {
        let taken = Set(stored)
        return configured.filter { taken.contains($0.name) }.map { key in
            "\(key.place): the store has a key of that name, too, and events could not tell them apart: "
                + "give this one another name"
        }
    }
}
