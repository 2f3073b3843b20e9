#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# All that has happened to a consent, oldest first: who did it, when, and the chain that proves it.
#   events.sh ID
source "$(dirname "$0")/call.sh"
call "$GATEWAY/v1/consents/${1:?is the id of a consent}/events"
