#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Holds a running `serve` against its own description with schemathesis (PyPI) for SECONDS: no 5xx but those that the
# contract promises, nothing off its schema. schemathesis.sh [SECONDS]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
tools=.build/schemathesis
if [[ ! -x $tools/bin/schemathesis ]]; then
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check 'schemathesis==4.32.5' 'openapi-spec-validator==0.9.0'
fi
"$tools/bin/openapi-spec-validator" Config/openapi.yaml
PATH=$PWD/$tools/bin:$PATH python3 Tests/EndToEnd/schemathesis_run.py "${1:-120}"
