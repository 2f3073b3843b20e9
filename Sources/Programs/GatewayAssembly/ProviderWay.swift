// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeCurl
import NativeEventLoop
import ProviderClients
import Settings

/// The way to one configured provider, for commands that only look: clients on the loops, and what its issuer brings.
struct ProviderWay: Sendable {
    let definition: ProviderDefinition
    let issuers: ProviderIssuers?
    let client: @Sendable () -> CurlClient?
    private let clients: [CurlClient]

    /// - Throws: `StartFailure` for files that cannot be read, and connections that cannot be set up.
    init(
        to provider: ProviderSettings, on loops: EventLoopGroup, _ time: any Timekeeper, _ entropy: any Entropy
    ) throws(StartFailure) {
        try ProviderFiles.check(provider)
        definition = ProviderDefinition(provider, try ClientCredentials(of: provider, time: time, entropy: entropy))
        let clients = try Gateway.clients(for: definition, on: loops)
        let client = { @Sendable in loops.current.flatMap { current in clients.first { $0.loop === current } } }
        issuers = try ProviderIssuers(
            provider, time: time, launcher: LoopLauncher(loops: loops), client: client, tell: { _, _ in })
        self.client = client
        self.clients = clients
    }

    func stop() async {
        for client in clients { await client.stop() }
    }
}
