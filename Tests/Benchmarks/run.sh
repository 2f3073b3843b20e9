#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What an exchange costs, as ratios in one run: floor, duty and gateway, at several numbers of callers, against a
# provider that answers at once, one that takes 50 ms, and one over TLS. A table on standard output; the same as JSON
# with --json FILE. `run.sh --help` says the rest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. Tests/Benchmarks/build.sh
exec python3 Tests/Benchmarks/exchanges.py "$@"
