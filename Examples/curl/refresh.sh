#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# New tokens now; the answer is the record.
#   refresh.sh ID
source "$(dirname "$0")/call.sh"
call --request POST "$GATEWAY/v1/consents/${1:?is the id of a consent}/refresh"
