#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SIGKILL, SIGSTOP for longer than `answer`, a store that takes no writes (held by another process, or its disk full),
# each at every step of a refresh, and a provider that refuses everybody for a while, with kills and an outage meanwhile:
# against static tokens, rotating ones with a grace, and rotating ones whose reuse ends the grant; with one process and
# with three on one store. Then races.py. On the release build.
# An answer counts as arrived once the store or the journal has it: a process that is to be killed is frozen first and
# looked at. What was in its socket or its memory only (the gap, of some milliseconds; counted) may be lost, by name.
# run.sh [KILLS [STOPS [OUTAGES]]] [--jobs N] [--results FILE] …; without arguments two minutes' worth. The whole:
# run.sh 2000 100 100, with ten stops beyond a lease of 36 s; with --results it goes on where it was ended.
# Progress, a line for each kind and number of processes, and a line of JSON; status 1 where anything but a lost answer
# on a provider that forbids reuse cost a grant, a token went out twice, or the provider ended a family.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
.ci/install
if [[ -z ${GATEWAY:-} ]]; then
    swift build -c release --product consent-gateway
    GATEWAY=$(swift build -c release --show-bin-path)/consent-gateway
    export GATEWAY
fi
# Each command is told, with the seconds before it.
PS4='+ after $SECONDS s: '
set -x
python3 Tests/Torture/torture.py "$@"
python3 Tests/Torture/races.py
