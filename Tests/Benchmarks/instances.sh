#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Several instances on one PostgreSQL: draining grants that are due and exchanging codes, with one instance and with
# four, what the instances and the server pay for each, held against duties with the same commits on the same server,
# and what one server is full of. A private cluster, gone afterwards. `instances.sh --help` says the rest; the whole is
# `instances.sh --drain 100000`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. Tests/Benchmarks/build.sh
exec python3 Tests/Benchmarks/instances.py "$@"
