#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the gateway does on PostgreSQL as whole processes, on the release build: instances whose server goes away, whose
# connections are cut, or which are killed and replaced one after the other, under load; a newer schema migrated under
# them; the primary killed and its replica promoted; four clusters behind a router, of which one is killed; machines
# whose clocks are wrong; a restart under load; what a dump of the database tells; the tortured refreshes and the races.
# Servers are private and gone afterwards.
# postgres.sh [KILLS [STOPS [OUTAGES]]] for the torture; without arguments a minute's worth.
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
python3 Tests/EndToEnd/postgres_outages.py
python3 Tests/EndToEnd/postgres_failover.py
python3 Tests/EndToEnd/sharding.py 4
export CONSENT_GATEWAY_TEST_STORE=postgres
Tests/postgres with python3 Tests/EndToEnd/clocks.py
Tests/postgres with python3 Tests/EndToEnd/restart.py
Tests/postgres with python3 Tests/EndToEnd/leaks.py
Tests/postgres with python3 Tests/Torture/torture.py "${1:-24}" "${2:-3}" "${3:-12}" --verdicts 3
Tests/postgres with python3 Tests/Torture/races.py
