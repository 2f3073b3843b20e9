// SPDX-License-Identifier: Apache-2.0
import FuzzProperties
import Glibc

// `FUZZ_READER=token fuzz-readers [libFuzzer's arguments]`: hands libFuzzer's inputs to one reader and stops at the
// first broken promise. SwiftPM names an executable's entry after its target, so libFuzzer is called from here and not
// the other way round.

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<Int32>, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<Argument?>>,
    _ read: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

private typealias Argument = UnsafeMutablePointer<CChar>

/// Which reader this process fuzzes: libFuzzer's callback carries nothing. A variable names it, for libFuzzer takes
/// every argument as its own and starts copies of the program with them.
private let reader = getenv("FUZZ_READER").flatMap { FuzzedReader(rawValue: String(cString: $0)) }

@_cdecl("fuzz_readers_main")
public func fuzzReadersMain(
    _ count: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> Int32 {
    guard reader != nil else {
        print("set FUZZ_READER to one of \(FuzzedReader.allCases.map(\.rawValue).joined(separator: ", "))")
        return 2
    }
    var count = count
    var arguments = arguments
    return runDriver(&count, &arguments) { start, length in
        let input = Array(UnsafeBufferPointer(start: start, count: length))
        let broken = reader?.breaches(input) ?? []
        guard broken.isEmpty else { fatalError("broken promise: " + broken.joined(separator: "; ")) }
        return 0
    }
}
