// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import ConsentStores
import ConsentUseCases
import Consents

/// What several commands say where they cannot do what they were asked for.
extension Gateway {
    /// The store did not do it: its place, why, and what to do.
    func output(of failure: StoreFailure) -> CommandOutput { StartFailure(failure, at: location).output }

    /// The store did not do it, and nobody has told more.
    var outOfReach: CommandOutput {
        .failure(
            "store.url: \(location.shown): the store is out of reach or busy; try again when it can be read and written",
            status: .storeOrKeys)
    }

    /// The configuration has no provider of that name.
    func unknown(_ provider: String) -> CommandOutput {
        let names = directory.all.map(\.facts.key.name).sorted()
        let known = names.isEmpty ? "it has none" : "it has " + names.joined(separator: ", ")
        return .failure("there is no provider '\(provider)' in the configuration; \(known)", status: .usage)
    }

    /// Nil for a provider that the configuration has.
    func refusal(of provider: String) -> CommandOutput? {
        directory.connection(named: provider) == nil ? unknown(provider) : nil
    }

    /// Nil also for one that was taken out of the configuration and that records in the store are of.
    func refusalToList(_ provider: String) async throws(ConsentFailure) -> CommandOutput? {
        guard let refusal = refusal(of: provider) else { return nil }
        let page = try await list(subject: nil, provider: provider, status: nil, before: nil, limit: 1)
        return page.items.isEmpty ? refusal : nil
    }
}
