// SPDX-License-Identifier: Apache-2.0
internal import CLinux
internal import Glibc

/// The variables of this process as they are now, by name. What is not UTF-8 is repaired; a variable that occurs
/// twice counts as it stands first, as `getenv` has it.
///
/// Call it once, in the assembly, before any thread could change one: the C library's table has no lock.
package func processEnvironment() -> [String: String] {
    var variables: [String: String] = [:]
    guard var entry = unsafe clinux_environment() else { return variables }
    while let text = unsafe entry.pointee {
        let line = unsafe String(cString: text)
        if let sign = line.firstIndex(of: "=") {
            let name = String(line[..<sign])
            if variables[name] == nil { variables[name] = String(line[line.index(after: sign)...]) }
        }
        unsafe entry += 1
    }
    return variables
}
