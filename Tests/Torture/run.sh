#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SIGKILL, SIGSTOP for longer than `answer`, and a store that takes no writes (held by another process, or its disk
# full), at each step of a refresh: against static tokens, rotating ones with a grace, and rotating ones whose reuse ends
# the grant; with one process and with three on one store. Then races.py. On the release build.
# run.sh [KILLS [STOPS [OUTAGES]]]; without arguments two minutes' worth. The whole: run.sh 2000 100 100.
# A line for each kind and number of processes; status 1 where anything but a lost answer on a provider that forbids
# reuse cost a grant, a token went out twice, or the provider ended a family.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
.ci/install
if [[ -z ${GATEWAY:-} ]]; then
    swift build -c release --product consent-gateway
    GATEWAY=$(swift build -c release --show-bin-path)/consent-gateway
    export GATEWAY
fi
python3 Tests/Torture/torture.py "$@"
python3 Tests/Torture/races.py
