// SPDX-License-Identifier: Apache-2.0
internal import NativeJSON

/// `job`: what one pass did.
package enum JobOutput {
    /// - Parameters:
    ///   - adopted: grants that ended processes had got and not made consents of.
    ///   - revocations: how many deliveries were tried.
    package static func pass(adopted: Int, revocations: Int, json: Bool) -> CommandOutput {
        if json {
            var document = JSONValue.object()
            document.set("grants_adopted", adopted)
            document.set("revocations_tried", revocations)
            return CommandOutput(text: jsonDocument(document))
        }
        return CommandOutput(
            text: TextTable.text([
                ["grants taken over", String(adopted)], ["revocations tried", String(revocations)],
            ]))
    }
}
