// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import ConsentStores
import Consents
import Settings

/// Why a command could not begin, with the status that the contract gives it.
struct StartFailure: Error, Sendable {
    let sentence: String
    let status: ExitStatus

    init(_ sentence: String, _ status: ExitStatus) {
        self.sentence = sentence
        self.status = status
    }

    /// - Parameter location: of the store that could not be used.
    init(_ failure: StoreFailure, at location: StoreLocation) {
        self.init("store.url: \(location.shown): \(failure)", .storeOrKeys)
    }

    /// Everything that is wrong with the configuration, a line each.
    init(_ errors: SettingsErrors) { self.init("the configuration cannot be used:\n\(errors)", .configuration) }

    var output: CommandOutput {
        CommandOutput(errors: "consent-gateway: \(sentence)\n", status: status)
    }
}
