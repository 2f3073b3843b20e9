#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How many instructions one exchange is, by library, of floor, duty and gateway: a measure that a busy machine does not
# change. Needs Debian's valgrind, and installs it. `instructions.sh --help` says the rest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. Tests/Benchmarks/build.sh
.ci/install valgrind
exec python3 Tests/Benchmarks/instructions.py "$@"
