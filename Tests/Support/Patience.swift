// SPDX-License-Identifier: Apache-2.0
import NativeSystem

/// How much longer than usual tests that need real time may take: `TEST_PATIENCE` in the environment, which
/// `.ci/sanitize` sets, since a sanitized build is many times slower; else 1.
package func patience() -> Int {
    processEnvironment()["TEST_PATIENCE"].flatMap { Int($0) } ?? 1
}
