// SPDX-License-Identifier: Apache-2.0

/// The arguments that this process was started with, without its own name; nil stands for each that is not UTF-8.
/// (`CommandLine.arguments` repairs those, and a repaired name is another's.)
package func processArguments() -> [String?] {
    let texts = unsafe UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
    return unsafe texts.dropFirst().map { text -> String? in
        guard let text = unsafe text else { return nil }
        return unsafe String(validatingCString: text)
    }
}
