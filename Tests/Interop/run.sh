#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The gateway with OpenID providers that others wrote: glewlwyd, idpy-oidc and django-oauth-toolkit. Installs what is
# missing, builds the release, starts the providers on free ports of loopback, drives the gateway through its public API
# and its command line, and stops all of it. run.sh [glewlwyd|idpy-oidc|django …]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
.ci/install
Tests/Interop/install "$@"
swift build -c release --product consent-gateway
GATEWAY=$(swift build -c release --show-bin-path)/consent-gateway
export GATEWAY
exec /usr/bin/python3 Tests/Interop/interop.py "$@"
