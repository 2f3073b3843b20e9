#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The tests of whole processes, on the release build: the README's blocks, the commands on a terminal, the examples and
# units, the alerts and manifests, what can be read in the files that are left, an operator's mishaps, a store that
# takes no writes when an answer comes, a store or keys that go away, a store that came back from a copy, a move to
# PostgreSQL, a pooler before it, a provider behind TLS and a proxy, one that wants a certificate, ten thousand idle
# connections, what an exchange costs in allocations, copies, syncs and hops, restarts under load, SIGKILL and SIGSTOP
# at each step of an exchange, and 128 callers for 10 s.
# run.sh [KILLS [STOPS [CALLERS [SECONDS]]]]; kills and stops for each of three kinds of provider.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
.ci/install
swift build -c release --product consent-gateway
GATEWAY=$(swift build -c release --show-bin-path)/consent-gateway
export GATEWAY
# Each command is told, with the seconds before it.
PS4='+ after $SECONDS s: '
set -x
python3 Tests/EndToEnd/readme.py
python3 Tests/EndToEnd/terminal.py
python3 Tests/EndToEnd/mobile_client.py
python3 Tests/EndToEnd/curl_examples.py
python3 Tests/EndToEnd/systemd.py
/usr/bin/python3 Tests/EndToEnd/examples.py
python3 Tests/EndToEnd/leaks.py
python3 Tests/EndToEnd/operations.py
/usr/bin/python3 Tests/EndToEnd/receipts.py
python3 Tests/EndToEnd/store_outage.py
python3 Tests/EndToEnd/store_faults.py
python3 Tests/EndToEnd/restore.py
Tests/postgres with python3 Tests/EndToEnd/moving.py
python3 Tests/EndToEnd/pooler.py
python3 Tests/EndToEnd/transport.py
python3 Tests/EndToEnd/client_certificates.py
/usr/bin/python3 Tests/EndToEnd/http2.py
python3 Tests/EndToEnd/idle.py
python3 Tests/EndToEnd/counts.py
python3 Tests/EndToEnd/restart.py
python3 Tests/EndToEnd/kill_exchange.py "${1:-17}" "${2:-3}"
python3 Tests/EndToEnd/load.py "${3:-128}" "${4:-10}"
