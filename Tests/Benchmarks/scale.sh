#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Refreshes on a store with a million consents: finding and claiming what is due, draining it, and what live callers
# notice. A table on standard output; the figures as JSON with --json FILE. `scale.sh --help` says the rest; the whole
# is `scale.sh --drain 100000`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. Tests/Benchmarks/build.sh
exec python3 Tests/Benchmarks/scale.py "$@"
