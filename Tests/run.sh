#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, runs the whole suite, its tests side by side, two a core, and searches all that it
# put out for secrets. A private PostgreSQL server runs beside it (Tests/postgres).
# Arguments go to `swift test`, as in `bash Tests/run.sh --filter StoreContractTests`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

.ci/install
swift build --build-tests
# Many tests measure time on real sockets. All of them at once on a few cores make each other late; two a core do not.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH="${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-$((2 * $(nproc)))}"
# Only Swift Testing: the log must close on its count, not on XCTest's "Executed 0 tests".
if (($#)); then
    Tests/postgres with swift test --disable-xctest "$@"
else
    # The whole suite, and then a search of all that it put out for every secret that it used.
    Tests/postgres with Tests/canary swift test --disable-xctest
fi
